// Which grants count at this moment, and which of them reach further than is usually intended.

import { isNothing, type Scope } from "../core/authority/axes/scope.ts";
import { type AxisName, scopeKeys } from "../core/authority/catalog.ts";
import type { Grant } from "../core/authority/grant.ts";
import type { Segment } from "../core/authority/patterns/segment.ts";
import type { Sequence } from "../core/authority/patterns/sequence.ts";
import { literalPrefix } from "../core/notation/policy/ceiling.ts";
import { isAtOrBelow } from "../core/notation/record/hoist.ts";

export function scopeOf({ verb, scopes }: Grant, name: AxisName): Scope | null {
  return scopes[verb.axes.findIndex((axis) => axis.name === name)] ?? null;
}

/** The patterns on an axis; none for `any` and for axes without patterns. */
export function patternsOf(grant: Grant, name: AxisName): readonly Sequence[] {
  const scope = scopeOf(grant, name);
  return scope?.kind === "sequences" ? scope.of : [];
}

export function isExpired({ conditions }: Grant, now: number): boolean {
  return conditions.expires !== null && conditions.expires <= now;
}

/** Covers something now. */
export function isLive(grant: Grant, now: number): boolean {
  return !isExpired(grant, now) && !grant.scopes.some(isNothing);
}

/** The folders a grant of `fs.*` or `proc.*` reaches, as patterns. */
export function reachOf(grant: Grant): readonly Sequence[] {
  return scopeKeys(grant.verb).includes("in") ? [...patternsOf(grant, "path"), ...patternsOf(grant, "root")] : [];
}

/** A whole home folder, or a folder above it. */
export function isHomeOrAbove(pattern: Sequence, home: readonly string[] | null): boolean {
  const last = pattern[pattern.length - 1];
  if (last?.kind !== "deep") return false;
  const prefix = literalPrefix(pattern);
  if (prefix.length < pattern.length - 1) return false;
  return prefix.length === 0 || (home !== null && isAtOrBelow(home, prefix));
}

/** Every host there is, or everything under one top-level domain. */
export function isWideNetwork(grant: Grant): boolean {
  const scope = scopeOf(grant, "host");
  if (scope?.kind === "any") return true;
  if (scope?.kind !== "destinations") return false;
  return (
    scope.everyPublic || scope.names.some((name) => literalPrefix(name).length < 2 && name.at(-1)?.kind === "deep")
  );
}

/** May call tools that are not ours. */
export function isForeignTool(grant: Grant): boolean {
  if (grant.verb.verb !== "tool.invoke") return false;
  const scope = scopeOf(grant, "tool");
  if (scope?.kind === "any") return true;
  return patternsOf(grant, "tool").some(([origin]) => origin?.kind !== "literal" || origin.text !== "builtin");
}

/** So much that handing it on, or running with it, needs a second look. */
export function isBroad(grant: Grant, home: readonly string[] | null): boolean {
  switch (grant.verb.verb) {
    case "secret.use":
      return isEvery(scopeOf(grant, "name"));
    case "tool.invoke":
      return isForeignTool(grant) && (isEvery(scopeOf(grant, "tool")) || isEveryOfOneOrigin(grant));
    default:
      if (grant.verb.family === "internal") return false;
      return reachOf(grant).some((pattern) => isHomeOrAbove(pattern, home)) || isWideNetwork(grant);
  }
}

function isEvery(scope: Scope | null): boolean {
  if (scope?.kind === "any") return true;
  return scope?.kind === "sequences" && scope.of.some((pattern) => pattern.every(isStar));
}

function isStar(segment: Segment): boolean {
  return segment.kind === "one" || segment.kind === "deep";
}

function isEveryOfOneOrigin(grant: Grant): boolean {
  return patternsOf(grant, "tool").some(([, ...name]) => name.every(isStar));
}
