// What a set of grants of one verb can tell apart on each axis. Witnesses need only differ where these facts do.
import type { AddressRange } from "../../base/address.ts";
import type { Constraint } from "../axes/constraint.ts";
import { placeText } from "../axes/constraint.ts";
import type { Scope } from "../axes/scope.ts";
import type { Grant } from "../grant.ts";
import { type Sequence, starSegments } from "../patterns/sequence.ts";

export interface AxisFacts {
  /** The most star-bearing segments in one pattern. */
  stars: number;
  /** Where port ranges begin or have just ended. */
  readonly ports: Set<number>;
  readonly ranges: AddressRange[];
  /** Constraints by the place they stand at. */
  readonly constraints: Map<string, Constraint[]>;
}

export function factsOf(grants: readonly Grant[], indexes: readonly number[], facts: AxisFacts[]): void {
  for (const index of indexes) {
    for (const [axis, scope] of (grants[index] as Grant).scopes.entries()) {
      facts[axis] ??= { stars: 0, ports: new Set(), ranges: [], constraints: new Map() };
      learn(facts[axis], scope);
    }
  }
}

function learn(facts: AxisFacts, scope: Scope): void {
  switch (scope.kind) {
    case "any":
    case "words":
      return;
    case "sequences":
      learnPatterns(facts, scope.of);
      return;
    case "destinations":
      learnPatterns(facts, scope.names);
      facts.ranges.push(...scope.ranges);
      for (const opening of scope.openings) {
        learnPatterns(facts, [opening.name]);
        facts.ranges.push(opening.range);
      }
      return;
    case "ports":
      for (const range of scope.of) facts.ports.add(range.low).add(range.high + 1);
      return;
    case "arguments":
      for (const { at, constraint } of scope.constrained) {
        const place = placeText(at);
        const list = facts.constraints.get(place);
        if (list === undefined) facts.constraints.set(place, [constraint]);
        else list.push(constraint);
      }
  }
}

export function learnPatterns(facts: Pick<AxisFacts, "stars">, patterns: readonly Sequence[]): void {
  for (const pattern of patterns) facts.stars = Math.max(facts.stars, starSegments(pattern));
}
