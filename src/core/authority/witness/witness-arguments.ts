// The witness of constrained arguments: one call that carries, at each constrained place, a list of every value
// that the other side could tell apart. A list is covered only if all its elements are, so one call is enough.

import { constrainedArgumentsMax } from "../../base/limits.ts";
import { type Arguments, type ArgumentsScope, type Constraint, type Probe, placeText } from "../axes/constraint.ts";
import { guardPath, type PathSettings } from "../axes/path.ts";
import type { Value } from "../axes/scope.ts";
import { ANY_TEXT, FOREIGN_TEXT } from "../patterns/reserved.ts";
import { type AxisFacts, learnPatterns } from "./facts.ts";
import { sequenceWitnesses, TOO_MANY } from "./witness.ts";
import { destinationWitnesses } from "./witness-destination.ts";

const LENGTH_SHOWN_MAX = 65_536;

export function argumentWitness(scope: ArgumentsScope, facts: AxisFacts): readonly Value[] | typeof TOO_MANY {
  if (scope.constrained.length > constrainedArgumentsMax) return TOO_MANY;
  // A constrained value is never an object, so nothing holds a constraint and one inside it at once.
  const places = scope.constrained.map((argument) => argument.at);
  if (places.some((outer) => places.some((inner) => isInside(inner, outer)))) return [];
  const at = new Map<string, readonly Probe[]>();
  for (const argument of scope.constrained) {
    const place = placeText(argument.at);
    const others = facts.constraints.get(place) ?? [];
    if (
      at.has(place) ||
      others.some((other) => other.kind !== argument.constraint.kind && argument.constraint.kind !== "values")
    )
      return TOO_MANY;
    const probes = constraintProbes(argument.constraint, others);
    if (probes === TOO_MANY) return TOO_MANY;
    if (probes.length === 0) return [];
    at.set(place, probes);
  }
  const witness: Arguments = { kind: "probes", open: !scope.only, at };
  return [witness];
}

function constraintProbes(constraint: Constraint, others: readonly Constraint[]): readonly Probe[] | typeof TOO_MANY {
  switch (constraint.kind) {
    case "values":
      return constraint.values.map((value) => ({ kind: "json", value }));
    case "range":
      return numberCells(constraint.low, constraint.high, others).map((value) => ({ kind: "json", value }));
    case "max_length":
      if (constraint.length > LENGTH_SHOWN_MAX) return TOO_MANY;
      return [{ kind: "json", value: FOREIGN_TEXT.repeat(constraint.length) }];
    case "text":
      return constraint.patterns.map((parts) =>
        parts.length === 1 ? { kind: "json", value: parts[0] as string } : { kind: "text", text: parts.join(ANY_TEXT) },
      );
    case "path": {
      const facts = { stars: 0 };
      for (const other of others) {
        if (other.kind !== "path") continue;
        // The same text is another path under other path settings; nothing can be shown across them.
        if (!samePathSettings(other.pathSettings, constraint.pathSettings)) return TOO_MANY;
        learnPatterns(facts, other.patterns);
      }
      const probes: Probe[] = [];
      for (const pattern of constraint.patterns) {
        const found = sequenceWitnesses(pattern, facts.stars, (segments) =>
          guardPath(segments, constraint.pathSettings.protectedPaths),
        );
        if (found === TOO_MANY) return TOO_MANY;
        for (const path of found) probes.push({ kind: "path", path });
      }
      return probes;
    }
    case "url": {
      const facts: AxisFacts = { stars: 0, ports: new Set(), ranges: [], constraints: new Map() };
      for (const other of others) {
        if (other.kind !== "url") continue;
        learnPatterns(facts, other.hosts.names);
        facts.ranges.push(...other.hosts.ranges);
      }
      const found = destinationWitnesses(constraint.hosts, facts);
      if (found === TOO_MANY) return TOO_MANY;
      return found.map((host) => ({ kind: "url", host }));
    }
  }
}

function isInside(inner: readonly string[], outer: readonly string[]): boolean {
  return inner.length > outer.length && outer.every((key, at) => key === inner[at]);
}

function samePathSettings(left: PathSettings, right: PathSettings): boolean {
  const text = ({ home, base, protectedPaths }: PathSettings): string => JSON.stringify([home, base, protectedPaths]);
  return left === right || text(left) === text(right);
}

/** Both ends, every number the other side names in between, and one number inside each gap. */
function numberCells(low: number, high: number, others: readonly Constraint[]): number[] {
  const points = new Set([low, high]);
  for (const other of others) {
    const named = other.kind === "range" ? [other.low, other.high] : other.kind === "values" ? other.values : [];
    for (const point of named) if (typeof point === "number" && point > low && point < high) points.add(point);
  }
  const sorted = [...points].sort((left, right) => left - right);
  const inside = sorted.slice(1).map((point, at) => between(sorted[at] as number, point));
  return [...sorted, ...inside].filter((point) => Number.isFinite(point));
}

function between(low: number, high: number): number {
  if (low === -Infinity) return high === Infinity ? 0 : high - 1 - Math.abs(high);
  return high === Infinity ? low + 1 + Math.abs(low) : low + (high - low) / 2;
}
