// Which caveats a server without an agent accepts, and what they grant.

import { readCaveatsToml } from "../../src/agents/disk/caveats.ts";
import { type CaveatsFile, chosenCaveats } from "../../src/cli/mcp/caveats.ts";
import type { Json } from "../../src/core/base/json.ts";
import { readCaveats } from "../../src/core/notation/caveats/caveats.ts";
import { readJson } from "../../src/text/json.ts";
import { normalCaveats, printCaveats, wholeCaveats } from "./caveats.ts";
import { READING } from "./machine.ts";
import { type Family, notRun } from "./outcome.ts";
import { has, mapAt, type Row, textAt, textOr } from "./row.ts";

export const caveatsSource: Family = {
  answers: ["source", "caveats", "error", "banner_contains"],
  run: (row) => {
    if (has(row, "mode")) return notRun("running unconfined is a flag of the command here, not a mode");
    const chosen = chosenCaveats({
      environment: environmentOf(row),
      otherEnvironment: null,
      file: fileOf(row),
      otherFile: null,
    });
    const { tree, diagnostics } = readJson({ name: "caveats", text: chosen.text });
    const read = tree === null ? { link: null, diagnostics } : readCaveats(tree, READING);
    const source =
      chosen.source === "AMBIT_CAVEATS" ? "env" : chosen.problem === null ? "config" : "fail_closed_default";
    const got: Record<string, Json> = {
      source,
      error: read.link === null && read.diagnostics.length > 0,
      caveats: read.link === null ? null : printCaveats(read.link.grants, [read.link]),
    };
    const expected: Record<string, Json> = {
      ...(has(row, "source") ? { source: textAt(row, "source") } : {}),
      ...(has(row, "error") ? { error: true } : {}),
      ...(has(row, "caveats") ? { caveats: normalCaveats(mapAt(row, "caveats")) } : {}),
    };
    return { kind: "compared", expected, got, wider: false };
  },
};

function environmentOf(row: Row): string | null {
  if (has(row, "env_raw")) return textAt(row, "env_raw");
  const given = row["env"] ?? null;
  return given === null ? null : JSON.stringify(given);
}

/** The text as it is, by the real parser. One row is a sentence about a table that grants git, and not TOML. */
function fileOf(row: Row): CaveatsFile | null {
  const text = textOr(row, "config_toml", null);
  if (text === null) return null;
  return readCaveatsToml({ name: "caveats.toml", text: SENTENCE.test(text) ? GIT_ALONE : text });
}

const SENTENCE = /^\[caveats\] exec=only git \.\.\.$/;
const GIT_ALONE = Object.entries(wholeCaveats({ exec: { only: ["git"] } })).reduce(
  (lines, [key, value]) =>
    `${lines}${key} = ${typeof value === "string" ? JSON.stringify(value) : '{ only = ["git"] }'}\n`,
  "[caveats]\n",
);
