// Which caveats a server without an agent takes, and what they grant.

import { type CaveatsFile, chosenCaveats } from "../../src/cli/mcp/caveats.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
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
    const chosen = chosenCaveats({ environment: environmentOf(row), file: fileOf(row) });
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

/** A text that is no TOML stands for a table granting git, or for a file without one. */
function fileOf(row: Row): CaveatsFile | null {
  const text = textOr(row, "config_toml", null);
  if (text === null) return null;
  const table: JsonObject = wholeCaveats({ exec: { only: ["git"] } });
  return text.startsWith("[caveats]")
    ? { name: "caveats.toml", text: JSON.stringify(table), problem: null }
    : { name: "caveats.toml", text: null, problem: "there is no [caveats] table" };
}
