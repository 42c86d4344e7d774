// The reference, written from the catalog and the pages of the codes, so that it cannot lag behind them.

import { rangeText } from "../../src/authority/address.ts";
import { byRisk, CATALOG, scopeKeys } from "../../src/authority/catalog.ts";
import { BUILTIN_TOOLS } from "../../src/authority/name.ts";
import { RISKY_OPTIONS_VERSION, RISKY_PROGRAMS, riskOf } from "../../src/authority/risky.ts";
import { METADATA_RANGES, SPECIAL_RANGES } from "../../src/authority/special.ts";
import { DENIALS, DIAGNOSTICS, type Page } from "../../src/cli/explanations.ts";
import { PROTECTED_PATHS } from "../../src/node/ground.ts";
import { PRESETS } from "../../src/notation/presets.ts";

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
  return [`### ${name}`, "", means, "", doThis, "", "```", example, "```", ""];
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
    "A star never matches these; a literal word does. Letters count alone, with a value glued on, or among other letters.",
    "",
    "| program | words | letters |",
    "|---|---|---|",
    ...RISKY_PROGRAMS.map((name) => {
      const risk = riskOf(name);
      return `| \`${name}\` | ${risk?.words.map((word) => `\`${word}\``).join(" ")} | ${risk?.letters === "" ? "" : `\`${risk?.letters}\``} |`;
    }),
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

function page(title: string, lines: readonly string[]): string {
  return `${[`# ${title}`, "", GENERATED, "", ...lines].join("\n").trimEnd()}\n`;
}
