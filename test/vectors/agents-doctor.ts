// What doctor reports about an agent with these capabilities: the number of findings, and their verbs.
import { verbEntry } from "../../src/core/authority/catalog.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { examine } from "../../src/doctor/examine.ts";
import { type Finding, kindOf } from "../../src/doctor/finding.ts";
import { treeOf } from "./json-tree.ts";
import { PATH_SETTINGS, READING, rootOf } from "./machine.ts";
import type { Family } from "./outcome.ts";
import { BadRow, listAt, type Row, textAt, textOr, textsOr } from "./row.ts";

export const doctorWarnings: Family = {
  answers: ["warnings", "contains", "not_contains"],
  run: (row) => {
    const { warnings } = row;
    if (typeof warnings !== "number") throw new BadRow("`warnings` is not a number");
    const kind = textAt(row, "check");
    const told = findingsOf(row).filter(({ code }) => kindOf(code) === kind);
    const verbs = told.flatMap(({ grants }) => grants.map(({ verb }) => verb.verb));
    // Only verbs are compared; the rest is prose.
    const named = (key: string): readonly string[] => textsOr(row, key, []).filter((word) => verbEntry(word) !== null);
    return {
      kind: "compared",
      expected: { warnings, contains: named("contains"), not_contains: named("not_contains") },
      got: {
        warnings: told.length,
        contains: named("contains").filter((verb) => verbs.includes(verb)),
        not_contains: named("not_contains").filter((verb) => !verbs.includes(verb)),
      },
      wider: told.length < warnings,
    };
  },
};

/** `records_dir` is the only folder of records; without it there is no workspace. */
function findingsOf(row: Row): readonly Finding[] {
  const configured = textOr(row, "config_sandbox", null);
  const sandbox = textOr(row, "agent_sandbox", null);
  const written: Readonly<Record<string, Json>> = { capabilities: listAt(row, "caps") };
  const tree = treeOf((sandbox === null ? written : { ...written, sandbox }) satisfies JsonObject);
  const record = readRecord(tree, { ...READING, ceiling: configured === null ? null : rootOf(configured) });
  const records = textOr(row, "records_dir", null);
  const [section] = examine({
    agents: [
      {
        id: "agent",
        source: { name: "vector", text: "" },
        tree,
        grants: record.grants,
        diagnostics: record.diagnostics,
        refused: false,
        workingRoot: record.sandbox,
      },
    ],
    broken: [],
    configs: [],
    workspace: records === null ? null : { folders: [rootOf(records)], trust: "trusted" },
    machine: null,
    tools: [],
    pathSettings: PATH_SETTINGS,
    now: 0,
  });
  return section?.findings ?? [];
}
