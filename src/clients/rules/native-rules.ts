// Native rules of clients made from an agent's grants: what each grant became, and how exactly. INVARIANT: a rule that allows is
// written only where the client's own matcher is known to let nothing through that the grant does not cover; everything else is
// left to the hook. Rules that deny are written only for verbs that no grant has at all, so that they never contradict the hook.
import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { Scope } from "../../core/authority/axes/scope.ts";
import { type Conditions, type Grant, isCounted } from "../../core/authority/grant.ts";
import type { Sequence } from "../../core/authority/patterns/sequence.ts";
import type { JsonObject } from "../../core/base/json.ts";

/** `exact`: the client decides as the record does. `stricter`: it allows less. `hook`: only the hook knows. */
export type Exactness = "exact" | "stricter" | "hook" | "impossible";

/** What one grant became. */
export interface GrantRules {
  readonly grant: Grant;
  readonly exactness: Exactness;
  /** As the client writes them, each with its effect: `allow Read(/src/**)`. */
  readonly rules: readonly string[];
  readonly why: string;
}

export interface CompiledRules {
  readonly client: string;
  /** Where a project has them; null where the client reads none from a project. */
  readonly path: string | null;
  /** The whole file, or what belongs into it. */
  readonly text: string;
  /** The same as a value, where the file is JSON. */
  readonly value: JsonObject | null;
  readonly rows: readonly GrantRules[];
  /** Rules for what no grant allows at all. */
  readonly denied: readonly string[];
  /** What the client does without asking, whatever its rules say: held by the hook alone. */
  readonly notes: readonly string[];
}

export interface RuleSource {
  readonly grants: readonly Grant[];
  readonly pathSettings: PathSettings;
  /** Approvals need certain people, or the session a user: no client can tell. */
  readonly isHookOnly: boolean;
}

export type RuleEffect = "allow" | "ask";

/** A part of a grant that a client may have a rule for. */
export type RulePart =
  /** Everything at and below a folder, except these protected paths. */
  | { readonly kind: "tree"; readonly folder: readonly string[]; readonly except: readonly (readonly string[])[] }
  | { readonly kind: "host"; readonly name: string }
  | { readonly kind: "search" }
  | { readonly kind: "tool"; readonly name: string };

export type GrantParts =
  | { readonly ok: true; readonly effect: RuleEffect; readonly parts: readonly RulePart[] }
  | { readonly ok: false; readonly exactness: "hook" | "impossible"; readonly why: string };

/** Verbs of what clients' own tools do; the rest is done by ambit's tools. */
const CLIENT_VERBS: ReadonlySet<string> = new Set([
  ...["fs.read", "fs.write", "fs.delete", "net.get", "proc.exec", "provider.web_search", "tool.invoke"],
]);

function hookOnly(why: string): GrantParts {
  return { ok: false, exactness: "hook", why };
}

/** The parts of a grant, or why no rule of any client can say it. */
export function partsOf(grant: Grant, source: RuleSource): GrantParts {
  const { verb, conditions } = grant;
  if (!CLIENT_VERBS.has(verb.verb))
    return { ok: false, exactness: "impossible", why: "no tool of the client does this; ambit's own tools do" };
  const condition = conditionOf(conditions, source.isHookOnly);
  if (condition !== null) return hookOnly(condition);
  const parts = verbParts(grant, source);
  return typeof parts === "string"
    ? hookOnly(parts)
    : { ok: true, effect: conditions.ask === 1 ? "ask" : "allow", parts };
}

/** Null: a client can tell as well as the record. */
function conditionOf(conditions: Conditions, isHookOnly: boolean): string | null {
  const { ask, expires, principals, clean, pass } = conditions;
  if (isCounted(conditions)) return "clients do not count calls";
  if (expires !== null) return "rules of clients do not expire";
  if (principals !== null) return "a client does not know for which user it works";
  if (clean) return "a client's session counts as having read untrusted content";
  if (pass === "pass") return "it can only be delegated";
  if (ask === 2 || (ask === 1 && isHookOnly)) return "the client's prompt cannot check who answers";
  return isHookOnly ? "a client does not know for which user it works" : null;
}

function verbParts({ verb, scopes }: Grant, source: RuleSource): readonly RulePart[] | string {
  const [first, second] = scopes as readonly [Scope, ...Scope[]];
  switch (verb.verb) {
    case "fs.read":
      return first.kind === "any" ? "it covers protected files" : treeParts(first, source);
    case "fs.write":
    case "fs.delete":
      return "names that programs obey are protected in every spelling; patterns of clients cannot express that";
    case "proc.exec":
      return "a client matches the text of a command, and runs it outside of the sandbox";
    case "net.get":
      return second?.kind === "any" ? hostParts(first) : "rules of clients ignore the port";
    case "provider.web_search":
      return isEveryHost(first) ? [{ kind: "search" }] : "rules of clients ignore the domains of a search";
    case "tool.invoke":
      return second?.kind === "any" ? toolParts(first) : "rules of clients ignore the arguments";
    default:
      return "the client has no rule for it";
  }
}

function treeParts(scope: Scope, { pathSettings, grants }: RuleSource): readonly RulePart[] | string {
  if (scope.kind !== "sequences") return "the client has no rule for it";
  const parts: RulePart[] = [];
  for (const pattern of scope.of) {
    const folder = literals(pattern.slice(0, -1));
    if (pattern.at(-1)?.kind !== "deep" || folder === null)
      return "a rule for a file or a pattern also matches what is below a folder of that name";
    if (folder.some((name) => !PLAIN_NAME.test(name))) return "the client reads a name in it as a pattern";
    const except = pathSettings.protectedPaths.filter((path) => path.length > folder.length && meets(path, folder));
    const isPlain = except.every((path) => path.every((name) => PLAIN_NAME.test(name)));
    if (!isPlain || except.length > exceptionsMax) return "protected files are below it";
    // A rule that denies would also deny what another grant names.
    if (except.some((path) => grants.some((other) => namesBelow(other, path))))
      return "protected files are below it, which another grant names";
    parts.push({ kind: "tree", folder, except });
  }
  return parts;
}

/** Names that are no pattern, and no end of a rule, in any client. */
const PLAIN_NAME = /^[A-Za-z0-9_.@+-][A-Za-z0-9_.@+ -]*(?<! )$/;

const exceptionsMax = 32;

function namesBelow({ verb, scopes: [scope] }: Grant, path: readonly string[]): boolean {
  if (verb.verb !== "fs.read" || scope?.kind !== "sequences") return false;
  return scope.of.some((pattern) =>
    path.every((name, at) => pattern[at]?.kind === "literal" && meets([name], [literalAt(pattern, at)])),
  );
}

function literalAt(pattern: Sequence, at: number): string {
  const segment = pattern[at];
  return segment?.kind === "literal" ? segment.text : "";
}

function meets(path: readonly string[], folder: readonly string[]): boolean {
  const length = Math.min(path.length, folder.length);
  return path.slice(0, length).every((name, at) => name === "*" || name === folder[at]);
}

function literals(pattern: Sequence): readonly string[] | null {
  const names = pattern.flatMap((segment) => (segment.kind === "literal" ? [segment.text] : []));
  return names.length === pattern.length ? names : null;
}

function hostParts(scope: Scope): readonly RulePart[] | string {
  if (scope.kind !== "destinations") return "a client's rule for every host includes private addresses";
  if (scope.everyPublic || scope.ranges.length > 0)
    return "rules of clients cannot distinguish public addresses from others";
  const parts: RulePart[] = [];
  for (const pattern of scope.names) {
    const labels = literals(pattern);
    // Labels run from the top-level domain down.
    if (labels === null) return "how many labels a `*` matches differs between clients";
    parts.push({ kind: "host", name: labels.toReversed().join(".") });
  }
  return parts;
}

function isEveryHost(scope: Scope): boolean {
  return scope.kind === "any" || (scope.kind === "destinations" && scope.everyPublic);
}

function toolParts(scope: Scope): readonly RulePart[] | string {
  if (scope.kind === "any") return "clients have no rule for all MCP tools that excludes their own tools";
  if (scope.kind !== "sequences") return "the client has no rule for it";
  const parts: RulePart[] = [];
  for (const pattern of scope.of) {
    // Its origin comes first; a built-in tool of ambit is no tool of a client.
    if (literalAt(pattern, 0) === "builtin") continue;
    const [, name, ...more] = literals(pattern) ?? [];
    if (name === undefined || more.length > 0 || !/^[A-Za-z0-9_-]+$/.test(name))
      return "rules of clients name one tool; patterns have another meaning there";
    parts.push({ kind: "tool", name });
  }
  return parts;
}

/** A client's rule for a part, or why there is none. */
export type RuleOf = (part: RulePart, effect: RuleEffect) => string | { readonly why: string };

export interface WrittenRule {
  readonly effect: RuleEffect;
  readonly part: RulePart;
  readonly rule: string;
}

/** What each grant becomes in a client. `written`: the rules, in the order of the grants. */
export function rowsOf(
  source: RuleSource,
  ruleOf: RuleOf,
): { readonly rows: readonly GrantRules[]; readonly written: readonly WrittenRule[] } {
  const written: WrittenRule[] = [];
  const rows = source.grants.map((grant): GrantRules => {
    const parts = partsOf(grant, source);
    if (!parts.ok) return { grant, exactness: parts.exactness, rules: [], why: parts.why };
    const own: WrittenRule[] = [];
    for (const part of parts.parts) {
      const rule = ruleOf(part, parts.effect);
      if (typeof rule !== "string") return { grant, exactness: "hook", rules: [], why: rule.why };
      own.push({ effect: parts.effect, part, rule });
    }
    if (own.length === 0) return { grant, exactness: "impossible", rules: [], why: "it matches no tool of the client" };
    written.push(...own);
    const rules = own.map(({ effect, rule }) => `${effect} ${rule}`);
    return parts.effect === "ask"
      ? { grant, exactness: "stricter", rules, why: "the client asks even where another grant allows" }
      : { grant, exactness: "exact", rules, why: "" };
  });
  return { rows, written };
}

/** Kinds of tools that every client has, with the verbs of which one is needed. */
export type ToolKind = "read" | "write" | "shell" | "fetch" | "search";

const NEEDS: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ["fs.read"],
  write: ["fs.write"],
  shell: ["proc.exec", "proc.eval"],
  fetch: ["net.get"],
  search: ["provider.web_search"],
};

/** Kinds of tools that no grant allows anything of. */
export function absentKinds({ grants }: RuleSource): readonly ToolKind[] {
  const verbs = new Set(grants.map(({ verb }) => verb.verb));
  return (Object.keys(NEEDS) as ToolKind[]).filter((kind) => !NEEDS[kind].some((verb) => verbs.has(verb)));
}

/** Once each, in a fixed order: the text is the same for the same grants. */
export function sortedRules(rules: readonly string[]): readonly string[] {
  return [...new Set(rules)].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
}

export function jsonText(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
