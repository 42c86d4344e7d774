// Grants that differ on one axis only. Many do: programs in one root, names with the same ports.

import type { Scope } from "../axes/scope.ts";
import type { Grant } from "../grant.ts";
import type { Segment } from "./segment.ts";
import type { Sequence } from "./sequence.ts";

/**
 * Is there no difference but on this axis, in the level, and in what is counted? INVARIANT: never true of two that
 * differ; false also where it would take long to find out.
 */
export function alikeElsewhere(one: Grant, other: Grant, axis: number): boolean {
  const { expires, principals, clean, pass } = one.conditions;
  const conditions = other.conditions;
  if (principals !== conditions.principals) return false;
  if (expires !== conditions.expires || clean !== conditions.clean || pass !== conditions.pass) return false;
  for (let at = 0; at < one.scopes.length; at++)
    if (at !== axis && !sameScope(one.scopes[at] as Scope, other.scopes[at] as Scope)) return false;
  return true;
}

function sameScope(one: Scope, other: Scope): boolean {
  if (one === other) return true;
  if (one.kind === "any") return other.kind === "any";
  if (one.kind !== "sequences" || other.kind !== "sequences") return false;
  return one.of.length === 1 && other.of.length === 1 && samePattern(one.of[0] as Sequence, other.of[0] as Sequence);
}

function samePattern(one: Sequence, other: Sequence): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (!sameSegment(one[at] as Segment, other[at] as Segment)) return false;
  return true;
}

function sameSegment(one: Segment, other: Segment): boolean {
  if (one.kind === "glob" || other.kind === "glob") return one === other;
  if (one.kind === "literal") return other.kind === "literal" && one.text === other.text;
  return one.kind === other.kind;
}
