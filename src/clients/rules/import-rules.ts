// Rules of a client as grants for a record, and what is wrong with them. INVARIANT: the grants allow nothing that the client would
// have denied or asked for.
import type { Authority } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetGrants } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { NativeRule, RuleMeaning } from "./read-rules.ts";

export type FindingKind = "dead" | "broad" | "unreachable" | "unreadable" | "meaning";

/** A rule, and what is to be known about it. */
export interface RuleFinding {
  readonly kind: FindingKind;
  readonly rule: string;
  readonly file: string;
  readonly text: string;
}

export interface ImportedGrant {
  readonly spec: string;
  readonly rule: string;
  readonly file: string;
}

export interface RuleImport {
  readonly grants: readonly ImportedGrant[];
  readonly findings: readonly RuleFinding[];
}

/** `held`: what the agent has already; what lies within it is not imported again. */
export function importRules(rules: readonly NativeRule[], reading: Reading, held: Authority): RuleImport {
  const findings: RuleFinding[] = [];
  const grants: ImportedGrant[] = [];
  const folded = foldedReading(reading);
  const read = rules.map((rule) => ({ rule, grants: grantsOf(rule, reading), folded: foldedGrants(rule, folded) }));
  const denials = read.filter(({ rule }) => rule.action === "deny");
  const prompts = read.filter(({ rule }) => rule.action === "ask");
  const taken: Grant[] = [];
  for (const { rule, grants: own, folded: compared } of read) {
    const { action, meaning, file } = rule;
    const tell = (kind: FindingKind, text: string): void => {
      findings.push({ kind, rule: `${action} ${rule.rule}`, file, text });
    };
    if (meaning.kind === "dead") tell("dead", `${meaning.why}${meaning.fix === null ? "" : `: ${meaning.fix}`}`);
    if (meaning.kind === "broad" && action !== "deny") tell("broad", meaning.why);
    const before = action === "allow" ? undefined : read.find((one) => isBefore(one, rule, own, options(reading)));
    if (before !== undefined)
      tell("unreachable", `\`allow ${before.rule.rule}\` takes precedence in the client; here this rule applies`);
    if (action === "deny" || meaning.kind === "free" || meaning.kind === "dead" || meaning.kind === "broad") continue;
    if (meaning.kind === "unreadable" || own === null) {
      tell("unreadable", meaning.kind === "unreadable" ? meaning.why : "it cannot be written as a grant");
      continue;
    }
    const above = denials.find((one) => meets(one, rule, compared ?? own));
    if (above !== undefined) {
      const isWhole =
        above.grants === null || within(own, authorityOf(above.grants), options(reading)).kind === "within";
      tell(
        isWhole ? "unreachable" : "meaning",
        isWhole
          ? `\`deny ${above.rule.rule}\` takes precedence`
          : `\`deny ${above.rule.rule}\` is inside it, and a record has no exceptions: grant only the parts you need`,
      );
      continue;
    }
    const asking = action === "ask" ? undefined : prompts.find((one) => meets(one, rule, compared ?? own));
    if (asking !== undefined) tell("meaning", `it asks, because \`ask ${asking.rule.rule}\` is inside it`);
    if (meaning.isBroad && action === "allow" && asking === undefined) tell("broad", "it asks in the record");
    if (meaning.note !== null) tell("meaning", meaning.note);
    const needsAsk = action === "ask" || asking !== undefined || (meaning.isBroad && isRisky(own));
    for (const grant of own) {
      const wanted = needsAsk ? { ...grant, conditions: { ...grant.conditions, ask: 1 as const } } : grant;
      if (within([wanted], [...held, ...authorityOf(taken)], options(reading)).kind === "within") continue;
      taken.push(wanted);
      grants.push({ spec: specOf(wanted, reading), rule: `${action} ${rule.rule}`, file });
    }
  }
  return { grants, findings: deduplicated(findings) };
}

/** Reading the project is what nearly every agent does. */
function isRisky(grants: readonly Grant[]): boolean {
  return grants.some(({ verb }) => verb.verb !== "fs.read");
}

function grantsOf({ meaning }: NativeRule, reading: Reading): readonly Grant[] | null {
  return meaning.kind === "grants" ? parseSpecs(meaning.specs, reading, null) : null;
}

interface ReadRule {
  readonly rule: NativeRule;
  readonly grants: readonly Grant[] | null;
  readonly folded: readonly Grant[] | null;
}

/** Claude Code compares names of files without their case: two rules that differ in it alone meet. */
function foldedGrants({ meaning }: NativeRule, folded: Reading): readonly Grant[] | null {
  if (meaning.kind !== "grants") return null;
  return parseSpecs(
    meaning.specs.map((spec) => (spec.startsWith("fs.") ? spec.toLowerCase() : spec)),
    folded,
    null,
  );
}

function foldedReading(reading: Reading): Reading {
  const { home, base, protectedPaths } = reading.pathSettings;
  const lower = (path: readonly string[] | null): readonly string[] | null =>
    path?.map((name) => name.toLowerCase()) ?? null;
  const { realRoot: _, ...rest } = reading;
  return { ...rest, pathSettings: { home: lower(home), base: lower(base), protectedPaths } };
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["Read", "Edit", "glob", "grep"]);
const OTHER_TOOLS: ReadonlySet<string> = new Set(["Bash", "WebFetch", "WebSearch", "websearch"]);

/**
 * Whether a denial or a question may be about a call that another rule allows. INVARIANT: true where that is not certain. A pattern
 * for files also matches what is below it, one without a slash in every folder, and a star inside it what its client makes of it.
 */
function meets(one: ReadRule, other: NativeRule, grants: readonly Grant[]): boolean {
  const { meaning, tool, rule } = one.rule;
  if (isDefault(one.rule, other)) return false;
  if (meaning.kind === "free") return false;
  const areFiles = FILE_TOOLS.has(tool) && FILE_TOOLS.has(other.tool);
  if (meaning.kind === "dead") return areFiles && /^(?:Read|Edit)\(/.test(rule);
  if (one.folded === null) {
    const isKnown = FILE_TOOLS.has(tool) || OTHER_TOOLS.has(tool) || tool.startsWith("mcp__");
    return !isKnown || tool === other.tool || areFiles;
  }
  if (areFiles && !isTree(meaning)) return true;
  const shared = meetGrants(one.folded, grants);
  return shared.grants.length > 0 || !shared.complete;
}

/** Whether a rule that allows decides each call of another in a client that orders its rules. */
function isBefore(
  { rule, grants }: ReadRule,
  other: NativeRule,
  own: readonly Grant[] | null,
  how: Parameters<typeof within>[2],
): boolean {
  if (rule.action !== "allow" || rule.rank === undefined || other.rank === undefined || grants === null) return false;
  if (rule.rank.priority <= other.rank.priority || rule.rank.tool !== other.rank.tool || own === null) return false;
  return within(own, authorityOf(grants), how).kind === "within";
}

/** A denial or question about a whole tool that a rule of higher priority comes before: without a grant a record denies, too. */
function isDefault({ rank }: NativeRule, { rank: other }: NativeRule): boolean {
  if (rank === undefined || other === undefined || !rank.isWhole) return false;
  return rank.priority < other.priority && (rank.tool === "*" || rank.tool === other.tool);
}

/** A folder with everything below it, which every client reads alike. */
function isTree(meaning: RuleMeaning): boolean {
  return (
    meaning.kind === "grants" &&
    meaning.specs.every((spec) => !spec.includes("*") || /paths=\["[^*"]*\/?\*\*"\]\}$/.test(spec)) &&
    meaning.specs.every((spec) => spec.includes("*") || !spec.includes("paths="))
  );
}

function authorityOf(grants: readonly Grant[]): Authority {
  const link = {
    id: "imported",
    role: "own",
    issuer: "record",
    holder: "imported",
    validity: ALWAYS,
    calls: null,
  } as const;
  return [[compile({ ...link, grants })]];
}

function options({ pathSettings }: Reading): Parameters<typeof within>[2] {
  return { protectedPaths: pathSettings.protectedPaths, delegating: false };
}

/** With the project as `.`, so that the record is the same on every machine. */
function specOf(grant: Grant, { pathSettings: { base } }: Reading): string {
  const text = compactText(grant);
  const project = base === null ? null : `/${base.join("/")}`;
  if (project === null) return text;
  return text.replace(/\bin=("?)([^",}\]]+)\1/, (whole, _, path: string) =>
    path === project
      ? "in=."
      : path.startsWith(`${project}/`)
        ? `in=${JSON.stringify(`./${path.slice(project.length + 1)}`)}`
        : whole,
  );
}

function deduplicated(findings: readonly RuleFinding[]): readonly RuleFinding[] {
  const seen = new Set<string>();
  return findings.filter((one) => {
    const key = JSON.stringify(one);
    return seen.has(key) ? false : seen.add(key) !== undefined;
  });
}
