// The remainder of a grant without a part of it. Grants only allow, so a remainder that would need an "except" cannot
// be expressed: then the result names the axis that would need it.

import type { DestinationScope } from "../../core/authority/axes/destination.ts";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import { isNothing, type PortRange, type Scope } from "../../core/authority/axes/scope.ts";
import type { Axis } from "../../core/authority/catalog.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { type Grant, UNCONDITIONAL } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetGrants, meetScopes } from "../../core/authority/meet.ts";
import { within } from "../../core/authority/witness/within.ts";

export type ProtectedPaths = PathSettings["protectedPaths"];

export type Rest =
  | { readonly ok: true; readonly grants: readonly Grant[] }
  | { readonly ok: false; readonly axis: Axis | null };

/** Conditions are ignored: the remainder keeps those of the grant, and the part is removed under all of them. */
export function subtract(grant: Grant, part: Grant, protectedPaths: ProtectedPaths): Rest {
  const kind = relation(grant, part, protectedPaths);
  if (kind === "apart") return { ok: true, grants: [grant] };
  if (kind === "inside") return { ok: true, grants: [] };
  const rest: Grant[] = [];
  let inside = grant;
  for (const [at, axis] of grant.verb.axes.entries()) {
    const scope = grant.scopes[at] as Scope;
    const taken = part.scopes[at] as Scope;
    const probe = (one: Scope): Grant => replaced(part, at, one);
    if (relation(probe(scope), part, protectedPaths) === "inside") continue;
    const left = scopeRest(scope, taken, axis, (one) => relation(probe(one), part, protectedPaths));
    const met = meetScopes(scope, taken, axis.kind === "path" || axis.kind === "argv");
    if (left === null || met === null) return { ok: false, axis };
    if (!isNothing(left)) rest.push(replaced(inside, at, left));
    inside = replaced(inside, at, met);
  }
  return { ok: true, grants: rest };
}

export type Relation = "inside" | "apart" | "crossing";

/** The relation of a grant to a part, as sets of requests. What cannot be proved inside or apart is crossing. */
export function relation(grant: Grant, part: Grant, protectedPaths: ProtectedPaths): Relation {
  if (grant.verb !== part.verb) return "apart";
  const whole = { ...part, conditions: UNCONDITIONAL };
  const met = meetGrants([grant], [whole]);
  if (met.complete && met.grants.length === 0) return "apart";
  const { kind } = within([grant], [[linkOf([whole])]], { protectedPaths, delegating: false });
  return kind === "within" ? "inside" : "crossing";
}

export function linkOf(grants: readonly Grant[]): CompiledLink {
  return compile({ id: "", role: "own", issuer: "", holder: "", grants, validity: ALWAYS, calls: null });
}

function replaced(grant: Grant, at: number, scope: Scope): Grant {
  return { ...grant, scopes: grant.scopes.map((one, index) => (index === at ? scope : one)) };
}

/** Entry by entry; null if one of them is neither inside nor apart. */
function scopeRest(scope: Scope, taken: Scope, axis: Axis, lies: (one: Scope) => Relation): Scope | null {
  if (axis.kind === "port") return portRest(scope, taken);
  const entries = entriesOf(scope);
  const relations = entries.map(lies);
  if (relations.includes("crossing")) return null;
  return joined(
    scope,
    entries.filter((_, index) => relations[index] === "apart"),
  );
}

function entriesOf(scope: Scope): readonly Scope[] {
  switch (scope.kind) {
    case "any":
    case "words":
    case "arguments":
    case "ports":
      return [scope];
    case "sequences":
      return scope.of.map((pattern) => ({ kind: "sequences", of: [pattern] }));
    case "destinations":
      return destinationEntries(scope);
  }
}

/** `*` is one entry: it stands for names and public addresses together. */
function destinationEntries(scope: DestinationScope): readonly Scope[] {
  const one = (part: Partial<DestinationScope>): Scope => ({
    ...scope,
    names: [],
    ranges: [],
    everyPublic: false,
    ...part,
  });
  const isEvery = (name: DestinationScope["names"][number]): boolean => name.length === 1 && name[0]?.kind === "deep";
  return [
    ...(scope.everyPublic ? [one({ names: scope.names.filter(isEvery), everyPublic: true })] : []),
    ...scope.names.filter((name) => !scope.everyPublic || !isEvery(name)).map((name) => one({ names: [name] })),
    ...scope.ranges.map((range) => one({ ranges: [range] })),
  ];
}

function joined(scope: Scope, entries: readonly Scope[]): Scope {
  if (scope.kind === "sequences")
    return { kind: "sequences", of: entries.flatMap((one) => (one.kind === "sequences" ? one.of : [])) };
  if (scope.kind === "destinations") {
    const parts = entries.filter((one) => one.kind === "destinations");
    return {
      ...scope,
      names: parts.flatMap((one) => one.names),
      ranges: parts.flatMap((one) => one.ranges),
      everyPublic: parts.some((one) => one.everyPublic),
    };
  }
  return entries.length === 0 ? { kind: "sequences", of: [] } : scope;
}

/** The one axis where "except" can be expressed. Any port is more than all numbers: a request may name none. */
function portRest(scope: Scope, taken: Scope): Scope | null {
  if (scope.kind !== "ports" || taken.kind !== "ports") return null;
  let left: readonly PortRange[] = scope.of;
  for (const cut of taken.of) {
    left = left.flatMap((one) => [
      ...(one.low < cut.low ? [{ low: one.low, high: Math.min(one.high, cut.low - 1) }] : []),
      ...(one.high > cut.high ? [{ low: Math.max(one.low, cut.high + 1), high: one.high }] : []),
    ]);
  }
  return { kind: "ports", of: left };
}
