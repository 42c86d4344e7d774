// The environment of the shell cases: the grants, the working folder of commands, and the answer for the line as a whole.
import { parseArgvPattern } from "../../src/core/authority/axes/argv.ts";
import type { PathSettings } from "../../src/core/authority/axes/path.ts";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { PRESETS } from "../../src/core/notation/record/presets.ts";
import { parseScript } from "../../src/tools/shell/language/parse.ts";
import type { ShellRefusal } from "../../src/tools/shell/language/refusal.ts";
import { type CommandNeeds, requestsOf } from "../../src/tools/shell/needs.ts";
import { requestsFor } from "../../src/tools/shell/tool-requests.ts";
import { chain, link, moment } from "../forge/authority.ts";

export type Answer = "allow" | "ask" | "deny";

const root = ["work", "project"];
const pathSettings: PathSettings = { home: ["home", "user"], base: root, protectedPaths: [] };
const reading: Reading = { pathSettings, toAscii: (host) => host, ceiling: null };

/** Compact specs, relative to the project's folder unless they name their own. An invalid one is our own mistake. */
export function authorityOf(specs: readonly string[]): Authority {
  const diagnostics = new Diagnostics();
  const span = { source: "spec", start: 0, end: 0 };
  const grants = specs.map((spec) =>
    readCompact(spec, { reading, diagnostics, span, root: spec.includes("{in=") ? null : root }),
  );
  const read = grants.filter((grant): grant is Grant => grant !== null);
  if (read.length !== specs.length) throw new Error(`does not parse: ${specs.join(" ")}`);
  return [chain(link("record", read))];
}

/** The newest of a preset's versions. */
export function preset(name: string): readonly string[] {
  const versions = [...PRESETS.keys()]
    .filter((key) => key.startsWith(`${name}@`))
    .map((key) => Number(key.slice(name.length + 1)));
  const specs = PRESETS.get(`${name}@${Math.max(...versions)}`);
  if (specs === undefined) throw new Error(`there is no preset ${name}`);
  return specs;
}

/** `git log` as a prefix: these words, and any after them. Null: the text is not a pattern of ours. */
export function prefixPattern(prefix: string): string | null {
  const pattern = `${prefix} **`;
  return /["'*]/.test(prefix) || !parseArgvPattern(pattern).ok ? null : pattern;
}

/** A line as the commands it needs. */
export function commandsOf(line: string): readonly CommandNeeds[] | ShellRefusal {
  const parsed = parseScript(line);
  if (!parsed.ok) return parsed;
  const needs = requestsOf(parsed.script);
  return needs.ok ? needs.commands : needs;
}

/** The whole script at once: the strictest answer decides. */
export function answerFor(authority: Authority, commands: readonly CommandNeeds[]): Answer {
  const requests = requestsFor(commands, { in: `/${root.join("/")}`, root: "ro" }, pathSettings);
  if (!requests.ok) return "deny";
  const outcomes = requests.value.map((request) => judge(authority, request, moment()).outcome);
  return outcomes.includes("deny") ? "deny" : outcomes.includes("ask") ? "ask" : "allow";
}
