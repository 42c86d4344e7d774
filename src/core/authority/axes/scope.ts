// What a grant allows on one axis, and what a request asks on it.

import { anyMatches, type Segments, type Sequence } from "../patterns/sequence.ts";
import { type Arguments, type ArgumentsScope, argumentsMatch } from "./constraint.ts";
import { type Destination, type DestinationScope, destinationMatches } from "./destination.ts";

export type Scope =
  /** Written as any, or resolved to it by the catalog when the text was read. Never "unset". */
  | { readonly kind: "any" }
  | { readonly kind: "sequences"; readonly of: readonly Sequence[] }
  | DestinationScope
  | { readonly kind: "ports"; readonly of: readonly PortRange[] }
  | { readonly kind: "words"; readonly of: readonly string[] }
  | ArgumentsScope;

export interface PortRange {
  readonly low: number;
  readonly high: number;
}

/** What a request says on one axis. `undefined` is a request that does not say: only `any` covers it. */
export type Value = Segments | Destination | Arguments | number | string | undefined;

export const ANY: Scope = { kind: "any" };
export const NOTHING: Scope = { kind: "sequences", of: [] };

export function isNothing(scope: Scope): boolean {
  switch (scope.kind) {
    case "any":
    case "arguments":
      return false;
    case "destinations":
      return scope.names.length === 0 && scope.ranges.length === 0 && !scope.everyPublic;
    case "sequences":
    case "ports":
    case "words":
      return scope.of.length === 0;
  }
}

/** INVARIANT: a value of another kind than the scope is not covered; this never throws and never guesses. */
export function scopeMatches(scope: Scope, value: Value): boolean {
  if (scope.kind === "any") return true;
  if (value === undefined) return false;
  switch (scope.kind) {
    case "sequences":
      return isSegments(value) && anyMatches(scope.of, value);
    case "destinations":
      return isDestination(value) && destinationMatches(scope, value);
    case "ports":
      return typeof value === "number" && inPorts(scope.of, value);
    case "words":
      return typeof value === "string" && scope.of.includes(value);
    case "arguments":
      return isArguments(value) && argumentsMatch(scope, value);
  }
}

/** A loop and no closure: this runs for every grant a decision looks at. */
function inPorts(ranges: readonly PortRange[], port: number): boolean {
  for (let at = 0; at < ranges.length; at++) {
    const { low, high } = ranges[at] as PortRange;
    if (port >= low && port <= high) return true;
  }
  return false;
}

export function isSegments(value: Value): value is Segments {
  return typeof value === "object" && "segments" in value;
}

export function isDestination(value: Value): value is Destination {
  return typeof value === "object" && "address" in value;
}

export function isArguments(value: Value): value is Arguments {
  return typeof value === "object" && "kind" in value;
}
