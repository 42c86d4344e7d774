// Witnesses for a whole scope, axis by axis.
import { guardArgv } from "../axes/argv.ts";
import { guardPath, type PathSettings } from "../axes/path.ts";
import { isNothing, type PortRange, type Scope, type Value } from "../axes/scope.ts";
import type { AxisKind } from "../catalog.ts";
import { segmentsOf } from "../patterns/sequence.ts";
import type { AxisFacts } from "./facts.ts";
import { endVariants, type Guard, programVariants, sequenceWitnesses, TOO_MANY } from "./witness.ts";
import { argumentWitness } from "./witness-arguments.ts";
import { destinationWitnesses } from "./witness-destination.ts";

/** Shorter values do not exist: a program is a word, a name has a segment, a tool an origin and a name. */
const SEGMENTS_MIN: Readonly<Partial<Record<AxisKind, number>>> = { argv: 1, name: 1, tool: 2 };

export const NO_FACTS: AxisFacts = { stars: 0, ports: new Set(), ranges: [], constraints: new Map() };

export function scopeWitnesses(
  scope: Scope,
  kind: AxisKind,
  facts: AxisFacts,
  protectedPaths: PathSettings["protectedPaths"],
): readonly Value[] | typeof TOO_MANY {
  if (isNothing(scope)) return [];
  switch (scope.kind) {
    case "any":
      return [undefined];
    case "words":
      return scope.of;
    case "ports":
      return scope.of.flatMap((range) => portCells(range, facts.ports));
    case "arguments":
      return argumentWitness(scope, facts);
    case "destinations":
      return destinationWitnesses(scope, facts);
    case "sequences": {
      const guard: Guard =
        kind === "path" ? (segments) => guardPath(segments, protectedPaths) : kind === "argv" ? guardArgv : segmentsOf;
      const all: Value[] = [];
      for (const pattern of scope.of) {
        const found = sequenceWitnesses(pattern, facts.stars, guard);
        if (found === TOO_MANY) return TOO_MANY;
        for (const witness of found) {
          if (witness.segments.length < (SEGMENTS_MIN[kind] ?? 0)) continue;
          all.push(witness);
          if (kind !== "argv") continue;
          const variants = programVariants(witness);
          if (variants === TOO_MANY) return TOO_MANY;
          const named = variants.map(guardArgv);
          all.push(...named, ...[witness, ...named].flatMap(endVariants));
        }
      }
      return all;
    }
  }
}

function portCells(range: PortRange, boundaries: ReadonlySet<number>): number[] {
  return [range.low, ...[...boundaries].filter((port) => port > range.low && port <= range.high)];
}
