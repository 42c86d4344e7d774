// Which caveats a server without an agent accepts, and what they grant.

import { readCaveatsToml } from "../../src/agents/disk/caveats.ts";
import { type CaveatsFile, chosenCaveats } from "../../src/cli/mcp/caveats.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { readCaveats } from "../../src/core/notation/caveats/caveats.ts";
import { readJson } from "../../src/text/json.ts";
import { normalCaveats, printCaveats } from "./caveats.ts";
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
      // A document that is refused denies everything.
      caveats: read.link === null ? DENIED : printCaveats(read.link.grants, [read.link]),
    };
    const expected: Record<string, Json> = {
      ...(has(row, "source") ? { source: textAt(row, "source") } : {}),
      ...(has(row, "error") ? { error: true } : {}),
      ...(has(row, "caveats") ? { caveats: normalCaveats(mapAt(row, "caveats")) } : {}),
    };
    return { kind: "compared", expected, got, wider: false };
  },
};

const DENIED: JsonObject = {
  fs_read: { only: [] },
  fs_write: { only: [] },
  exec: { only: [] },
  net: { only: [] },
  max_calls: { at_most: 0 },
  valid_for_generation: { only: [] },
};

/** Text as it stands; a map as the JSON it stands for. */
function environmentOf(row: Row): string | null {
  if (has(row, "env_raw")) return textAt(row, "env_raw");
  const given = row["env"] ?? null;
  if (given === null) return null;
  return typeof given === "string" ? given : JSON.stringify(given);
}

/** Always text, and always by the real reader: a sentence that is no TOML is a broken file. */
function fileOf(row: Row): CaveatsFile | null {
  const table = row["config"] ?? null;
  const text = textOr(row, "config_toml", typeof table === "string" ? table : null);
  if (text !== null) return readCaveatsToml({ name: "caveats.toml", text });
  return isJsonObject(table) ? readCaveatsToml({ name: "caveats.toml", text: tomlText(table) }) : null;
}

/** A table of Caveats as a person would write it. */
function tomlText(table: JsonObject): string {
  const axes = isJsonObject(table["caveats"] ?? null) ? (table["caveats"] as JsonObject) : table;
  return `[caveats]\n${Object.entries(axes)
    .map(([axis, scope]) => `${axis} = ${tomlValue(scope)}\n`)
    .join("")}`;
}

function tomlValue(value: Json): string {
  if (isJsonList(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key} = ${tomlValue(one)}`)
    .join(", ")} }`;
}
