// The spec of an edit as the user typed it: parsed to the grant to add or the part to revoke.

import { ANY, isNothing, type Scope } from "../../core/authority/axes/scope.ts";
import type { Axis, ScopeKey } from "../../core/authority/catalog.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { type CompactSpec, parseCompact } from "../../core/notation/compact/compact-parser.ts";
import { type Diagnostic, Diagnostics } from "../../core/notation/diagnostic.ts";
import { instantText } from "../../core/notation/instant.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { type CapabilitiesContext, readCapabilities } from "../../core/notation/record/capabilities.ts";
import { CONDITION_KEYS } from "../../core/notation/scope/conditions.ts";
import type { Source } from "../../core/notation/source.ts";
import type { AuthorityEdit } from "./edit-check.ts";

export interface SpecContext {
  readonly reading: Reading;
  /** The agent's hoisted root, or null. */
  readonly root: readonly string[] | null;
}

export type SpecRead<T> =
  | { readonly ok: true; readonly value: T }
  /** Without a diagnostic the message is complete. */
  | {
      readonly ok: false;
      readonly message: string;
      readonly source: Source;
      readonly diagnostics: readonly Diagnostic[];
    };

export interface GrantSpec {
  /** The text written into the record. */
  readonly text: string;
  readonly grant: Grant;
}

/** Limits given beside the spec: an expiry, and a number of calls. */
export interface SpecLimits {
  readonly expires: number | null;
  readonly calls: number | null;
}

const specName = "spec";

/** A spec that would grant nothing is refused, because it is surely a mistake. */
export function readGrantSpec(spec: string, limits: SpecLimits, context: SpecContext): SpecRead<GrantSpec> {
  const limited = withLimits(spec.trim(), limits);
  if (!limited.ok) return limited;
  const text = limited.value;
  const diagnostics = new Diagnostics();
  const span = { source: specName, start: 0, end: text.length };
  const whole: CapabilitiesContext = { ...context, diagnostics };
  const [grant] = readCapabilities({ kind: "list", items: [{ kind: "scalar", value: text, span }], span }, whole);
  if (grant === undefined) return refused(`${JSON.stringify(text)} is not a grant`, text, diagnostics.list);
  if (grant.scopes.some(isNothing)) return refused("this would grant nothing", text, diagnostics.list);
  return { ok: true, value: { text, grant } };
}

/**
 * An omitted key matches any value where a grant without it would be narrower or empty. `held`: the grants to revoke
 * from.
 */
export function readRevokeSpec(
  spec: string,
  context: SpecContext,
  held: readonly Grant[],
): SpecRead<Extract<AuthorityEdit, { kind: "revoke" }>> {
  const text = spec.trim();
  const diagnostics = new Diagnostics();
  const span = { source: specName, start: 0, end: text.length };
  if (isToken(text)) {
    const read = readGrantSpec(text, { expires: null, calls: null }, context);
    if (!read.ok) return read;
    const { grant } = read.value;
    return { ok: true, value: { kind: "revoke", verb: grant.verb, part: { grant, conditions: null } } };
  }
  const parsed = parseCompact(text, span, diagnostics);
  const grant = parsed === null ? null : readCompact(text, { ...context, diagnostics, span });
  if (parsed === null || grant === null)
    return refused(`${JSON.stringify(text)} is not a grant`, text, diagnostics.list);
  const { verb } = grant;
  if (parsed.scope === null || parsed.scope.entries.length === 0)
    return { ok: true, value: { kind: "revoke", verb, part: null } };
  const scopes = verb.axes.map((axis, at) => meantScope(axis, grant.scopes[at] as Scope, parsed, held));
  const part = { ...grant, scopes };
  if (part.scopes.some(isNothing)) return refused("this does not name anything to revoke", text, diagnostics.list);
  const isConditioned = CONDITION_KEYS.some((key) => written(parsed, key));
  return {
    ok: true,
    value: { kind: "revoke", verb, part: { grant: part, conditions: isConditioned ? grant.conditions : null } },
  };
}

/** A host includes the private addresses that the held grants allow it to resolve to. */
function meantScope(axis: Axis, scope: Scope, spec: CompactSpec, held: readonly Grant[]): Scope {
  if (!axis.keys.some((key) => written(spec, key))) return ANY;
  if (scope.kind !== "destinations" || written(spec, "private")) return scope;
  const scopes = held.flatMap((grant) => grant.scopes);
  return { ...scope, openings: scopes.flatMap((one) => (one.kind === "destinations" ? one.openings : [])) };
}

function written({ scope }: CompactSpec, key: ScopeKey | (typeof CONDITION_KEYS)[number]): boolean {
  return scope?.entries.some((entry) => entry.key === key) ?? false;
}

/** A colon without braces is a token, as in a record. */
function isToken(text: string): boolean {
  return text.includes(":") && !text.includes("{");
}

function withLimits(text: string, { expires, calls }: SpecLimits): SpecRead<string> {
  const pairs = [
    ...(calls === null ? [] : [`calls=${calls}`]),
    ...(expires === null ? [] : [`expires=${instantText(expires)}`]),
  ];
  const diagnostics = new Diagnostics();
  if (isToken(text)) {
    const compact = "a token has no conditions: write the grant with braces";
    return pairs.length === 0 ? { ok: true, value: text } : refused(compact, text);
  }
  const spec = parseCompact(text, { source: specName, start: 0, end: text.length }, diagnostics);
  if (spec === null) return refused(`${JSON.stringify(text)} is not a grant`, text, diagnostics.list);
  const twice = CONDITION_KEYS.find(
    (key) => written(spec, key) && ((key === "calls" && calls !== null) || (key === "expires" && expires !== null)),
  );
  if (twice !== undefined) return refused(`\`${twice}\` is already in the spec`, text);
  const scope = spec.scope === null ? "" : text.slice(spec.scope.span.start, spec.scope.span.end);
  if (pairs.length === 0) return { ok: true, value: `${spec.verb}${scope}` };
  const inner = scope.slice(1, -1).trim();
  return { ok: true, value: `${spec.verb}{${[...(inner === "" ? [] : [inner]), ...pairs].join(",")}}` };
}

function refused(
  message: string,
  text: string,
  diagnostics: readonly Diagnostic[] = [],
): Extract<SpecRead<never>, { ok: false }> {
  return { ok: false, message, source: { name: specName, text }, diagnostics };
}
