// Org policy: an agent's table over the org's over the base of the file.

import { isJsonList, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import {
  effectivePolicy,
  type PolicyTable,
  policyRequests,
  readPolicyTable,
} from "../../src/core/notation/policy/policy.ts";
import type { Ruling } from "../../src/core/notation/policy/policy-table.ts";
import { CLAUDE_TOOLS, claudeTools } from "../../src/org/client-argv.ts";
import { treeOf } from "./json-tree.ts";
import type { Family } from "./outcome.ts";
import { has, mapAt, mapOr, textsAt } from "./row.ts";

/** Columns that are flags of the client, compared as sets. */
const FLAG_COLUMNS = ["allowedTools", "disallowedTools"] as const;

export const policyResolution: Family = {
  answers: ["effective", "requests", ...FLAG_COLUMNS],
  run: (row, file) => {
    const effective = effectivePolicy(
      table(mapOr(row, "agent")),
      table(mapOr(row, "org")),
      table(mapAt(file.header, "base")),
    );
    const rulings = Object.fromEntries([...effective].map(([capability, { ruling }]) => [capability, ruling]));
    const expected: Record<string, Json> = {};
    // A capability that the row does not show is not compared.
    if (has(row, "effective")) expected["effective"] = { ...rulings, ...mapAt(row, "effective") };
    if (has(row, "requests")) expected["requests"] = [...textsAt(row, "requests")].sort();
    const tools = claudeTools(Object.entries(rulings) as [string, Ruling][], toolsIn(mapOr(file.header, "tools")));
    for (const column of FLAG_COLUMNS) if (has(row, column)) expected[column] = [...textsAt(row, column)].sort();
    return {
      kind: "compared",
      expected,
      got: {
        effective: rulings,
        requests: policyRequests(effective).sort(),
        allowedTools: [...tools.allowed].sort(),
        disallowedTools: [...tools.disallowed].sort(),
      },
      wider: isWider(mapOr(row, "effective"), rulings),
    };
  },
};

function table(value: JsonObject): PolicyTable {
  const diagnostics = new Diagnostics();
  const read = readPolicyTable(treeOf(value), diagnostics);
  if (read === null) throw new Error(diagnostics.list.map((one) => one.message).join("; "));
  return read;
}

const RULINGS = ["deny", "ask", "allow"];

function isWider(expected: JsonObject, got: JsonObject): boolean {
  return Object.entries(expected).some(
    ([capability, ruling]) => RULINGS.indexOf(String(got[capability])) > RULINGS.indexOf(String(ruling)),
  );
}

/** A capability whose entry is a sentence has no tools. */
function toolsIn(tools: JsonObject): Readonly<Record<string, readonly string[]>> {
  const lists = Object.entries(tools).filter(([, names]) => isJsonList(names));
  return lists.length === 0 ? CLAUDE_TOOLS : (Object.fromEntries(lists) as Record<string, readonly string[]>);
}
