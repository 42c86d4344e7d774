// The reference, generated from the catalog and the pages of the codes, so that it cannot become outdated.

import { DENIALS, DIAGNOSTICS, type Page } from "../../src/cli/explain/pages.ts";
import { BUILTIN_TOOLS } from "../../src/core/authority/axes/name.ts";
import { byRisk, CATALOG, scopeKeys } from "../../src/core/authority/catalog.ts";
import {
  commandRisk,
  RISKY_OPTIONS_VERSION,
  RISKY_PROGRAMS,
  type Risk,
  riskOf,
  riskyCommands,
} from "../../src/core/authority/programs/risky.ts";
import { rangeText } from "../../src/core/base/address.ts";
import { METADATA_RANGES, SPECIAL_RANGES } from "../../src/core/base/special.ts";
import { PRESETS } from "../../src/core/notation/record/presets.ts";
import { PROTECTED_PATHS } from "../../src/platform/path-settings.ts";
import { apiDoors, apiLines } from "./api.ts";

const GENERATED =
  "<!-- Generated from the source; `UPDATE_REFERENCE=1 npx vitest run test/reference` writes it anew. -->";

export function verbsPage(): string {
  const rows = CATALOG.toSorted(byRisk).map((verb) => {
    const bare = verb.axes.length === 0 ? "granted" : verb.family === "internal" ? "everything" : "nothing";
    return `| \`${verb.verb}\` | ${verb.risk} | ${verb.family} | ${bare} | ${scopeKeys(verb)
      .map((key) => `\`${key}\``)
      .join(" ")} | ${verb.effect} |`;
  });
  return page("Verbs", [
    "Every verb also takes the conditions `ask` `calls` `rate` `expires` `pass` `clean`. *Bare* is what the verb means without a scope.",
    "",
    "| verb | risk | family | bare | scope keys | lets an agent |",
    "|---|---|---|---|---|---|",
    ...rows,
  ]);
}

export function apiPage(): string {
  return page("API", apiLines(apiDoors()));
}

export function codesPage(): string {
  return page("Codes", [
    "## Denials",
    "",
    ...Object.entries(DENIALS).flatMap(entry),
    "## Diagnostics",
    "",
    ...Object.entries(DIAGNOSTICS).flatMap(entry),
  ]);
}

function entry([name, { means, doThis, example }]: readonly [string, Page]): string[] {
  return [
    `### ${name}`,
    "",
    means,
    "",
    doThis,
    "",
    `\`\`\`${example.startsWith("ambit ") ? "sh" : "yaml"}`,
    example,
    "```",
    "",
  ];
}

export function dataPage(): string {
  return page("Data", [
    "## Protected paths",
    "",
    "Covered only by a grant that names them literally.",
    "",
    ...PROTECTED_PATHS.map((path) => `- \`${path}\``),
    "",
    "## Special addresses",
    "",
    "Refused for every name, whatever it resolves to, unless a grant opens that name for that range.",
    "",
    ...SPECIAL_RANGES.filter((range) => !METADATA_RANGES.includes(range)).map((range) => `- \`${rangeText(range)}\``),
    "",
    "Metadata of clouds, opened by that one address only:",
    "",
    ...METADATA_RANGES.map((range) => `- \`${rangeText(range)}\``),
    "",
    `## Risky options, version ${RISKY_OPTIONS_VERSION}`,
    "",
    "A star never matches these; a literal word does. Letters count alone, with a value glued on, or among other letters, up to a letter that takes a value. Long options count with one dash or two, with `_` for `-`, in any capitals and shortened. `@*` is a response file, `NAME=value` an assignment.",
    "",
    "| program | words | letters | letters that take a value |",
    "|---|---|---|---|",
    ...RISKY_PROGRAMS.flatMap((name) => [
      riskRow(name, riskOf(name)),
      ...riskyCommands(name).map((command) => riskRow(`${name} ${command}`, commandRisk(name, command))),
    ]),
    "",
    "## Built-in tools",
    "",
    BUILTIN_TOOLS.map((name) => `\`${name}\``).join(" "),
    "",
    "## Presets",
    "",
    ...[...PRESETS].flatMap(([name, specs]) => [`### ${name}`, "", ...specs.map((spec) => `- \`${spec}\``), ""]),
  ]);
}

function riskRow(name: string, risk: Risk | null): string {
  const words = [...(risk?.words ?? []), ...(risk?.isAssigning === true ? ["NAME=value"] : [])];
  const cells = [words, [risk?.letters ?? ""], [risk?.values ?? ""]];
  return `| \`${name}\` | ${cells.map((cell) => cell.map((text) => (text === "" ? "" : `\`${text}\``)).join(" ")).join(" | ")} |`;
}

function page(title: string, lines: readonly string[]): string {
  return `${[`# ${title}`, "", GENERATED, "", ...lines].join("\n").trimEnd()}\n`;
}
