// `ambit explain [name]`: the page of a code or a word, or the entry of a verb; alone, the catalog.

import { ROOT_WORDS } from "../../core/authority/axes/root-word.ts";
import { byRisk, CATALOG, scopeKeys, type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { conditionKeys } from "../../core/notation/scope/conditions.ts";
import { DAEMON_CODES } from "../daemon/pages.ts";
import { FINDINGS } from "../doctor/pages.ts";
import type { CliPorts } from "../ports.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { paintRisk } from "../terminal/paint.ts";
import { DENIALS, DIAGNOSTICS, type Page } from "./pages.ts";
import { WORDS } from "./words.ts";

export function explainName(ports: CliPorts, name: string | undefined, options: { readonly json: boolean }): ExitCode {
  return name === undefined ? catalog(ports, options) : explainOne(ports, name, options);
}

/** Every verb, the consequential ones first, and the names of all codes and words. */
function catalog(ports: CliPorts, { json }: { readonly json: boolean }): ExitCode {
  const verbs = CATALOG.toSorted(byRisk);
  const codes = PAGES.map(([kind, pages]) => [kind, Object.keys(pages).sort()] as const);
  if (json) {
    const entries = verbs.map((verb) => {
      const { verb: name, family, risk, effect } = verb;
      return { name, family, risk, effect, keys: scopeKeys(verb) };
    });
    ports.print(jsonLine({ verbs: entries, codes: Object.fromEntries(codes) }));
    return EXIT.ok;
  }
  const { paint } = ports;
  const width = Math.max(...verbs.map(({ verb }) => verb.length));
  for (const verb of verbs) {
    const { verb: name, risk, effect } = verb;
    const keys = scopeKeys(verb).join(", ");
    const level = `${paintRisk(paint, risk)}${" ".repeat(6 - risk.length)}`;
    ports.print(`${level}  ${name.padEnd(width)}  ${effect}${keys === "" ? "" : paint.dim(`  {${keys}}`)}`);
  }
  for (const [kind, names] of codes) {
    const title = kind === "word" ? "words of records and configurations" : `${kind} codes`;
    ports.print(`\n${paint.strong(title)}\n  ${names.join("  ")}`);
  }
  ports.print(paint.dim("\nambit explain <name> explains one of them"));
  return EXIT.ok;
}

const PAGES = [
  ["denial", DENIALS],
  ["diagnostic", DIAGNOSTICS],
  ["finding", FINDINGS],
  ["daemon", DAEMON_CODES],
  ["word", WORDS],
] as const;

function explainOne(ports: CliPorts, name: string, options: { readonly json: boolean }): ExitCode {
  const page = pageOf(name);
  const verb = verbEntry(name);
  if (page !== null) {
    ports.print(
      options.json
        ? JSON.stringify({ name, kind: page.kind, ...page.page })
        : pageText(name, page.kind, page.page, ports),
    );
    return EXIT.ok;
  }
  if (verb !== null) {
    const { family, risk, effect } = verb;
    ports.print(
      options.json
        ? JSON.stringify({ name, kind: "verb", family, risk, effect, keys: scopeKeys(verb) })
        : verbText(verb, ports),
    );
    return EXIT.ok;
  }
  const names = [...PAGES.flatMap(([, pages]) => Object.keys(pages)), ...CATALOG.map((entry) => entry.verb)];
  const nearest = nearestName(name, names);
  const message = `no code, verb or word called ${JSON.stringify(name.slice(0, 80))}`;
  if (options.json) ports.print(jsonLine({ error: { message, suggestion: nearest } }));
  else
    ports.printError(
      `${ports.paint.bad("error")}: ${message}${nearest === null ? "" : `\n  did you mean ${nearest}?`}`,
    );
  return EXIT.usage;
}

function pageOf(name: string): { readonly kind: (typeof PAGES)[number][0]; readonly page: Page } | null {
  for (const [kind, pages] of PAGES) {
    if (Object.hasOwn(pages, name)) return { kind, page: (pages as Readonly<Record<string, Page>>)[name] as Page };
  }
  return null;
}

function pageText(name: string, kind: string, page: Page, { paint }: CliPorts): string {
  return [
    `${paint.strong(name)}  ${paint.dim(kind)}`,
    `  ${page.means}`,
    `  ${page.doThis}`,
    paint.dim(`  example: ${page.example}`),
  ].join("\n");
}

function verbText(verb: VerbEntry, { paint }: CliPorts): string {
  const bare =
    verb.axes.length === 0
      ? "no scope"
      : verb.family === "internal"
        ? "without a scope it covers everything"
        : "without a scope it covers nothing";
  return [
    `${paint.strong(verb.verb)}  ${paintRisk(paint, verb.risk)} risk`,
    `  ${verb.effect}; ${verb.family}: ${bare}`,
    `  scope keys: ${scopeKeys(verb).join(", ") || "none"}; conditions: ${conditionKeys(verb).join(", ")}`,
    ...(verb.axes.some(({ keys }) => keys.includes("root")) ? [rootText()] : []),
  ].join("\n");
}

const ROOT_MEANINGS: Readonly<Record<(typeof ROOT_WORDS)[number], string>> = {
  ro: "the program reads the folder",
  rw: "its changes land when it ends",
  live: "it works on a copy that is synchronized while it runs",
};

function rootText(): string {
  return `  root: ${ROOT_WORDS.map((word) => `${word} (${ROOT_MEANINGS[word]})`).join(", ")}`;
}
