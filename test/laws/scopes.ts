// Random scopes of every axis, hosts with ranges and openings, ports, words, and constraints of arguments.

import type { ArgumentsScope, Constraint } from "../../src/core/authority/axes/constraint.ts";
import type { DestinationScope } from "../../src/core/authority/axes/destination.ts";
import { ANY, NOTHING, type PortRange, type Scope } from "../../src/core/authority/axes/scope.ts";
import type { Axis } from "../../src/core/authority/catalog.ts";
import { DEEP } from "../../src/core/authority/patterns/segment.ts";
import type { AddressRange } from "../../src/core/base/address.ts";
import * as alphabet from "./alphabet.ts";
import { hostPattern, pathPattern, pattern, type SequenceKind } from "./sequences.ts";
import { chance, oneOf, type Source, several } from "./source.ts";

export function range(source: Source): AddressRange {
  return oneOf(source, alphabet.RANGES);
}

export function ports(source: Source): PortRange {
  const low = oneOf(source, alphabet.PORTS);
  if (chance(source, 50)) return { low, high: low };
  const high = oneOf(source, alphabet.PORTS);
  return low <= high ? { low, high } : { low: high, high: low };
}

export function destinations(source: Source, openings: boolean): DestinationScope {
  const every = chance(source, 12);
  const names = several(source, 0, 2, () => hostPattern(source));
  return {
    kind: "destinations",
    names: every ? [[DEEP], ...names] : names,
    ranges: several(source, names.length === 0 ? 1 : 0, 2, () => range(source)),
    everyPublic: every,
    openings: openings ? several(source, 0, 2, () => ({ name: hostPattern(source), range: range(source) })) : [],
  };
}

export function constraint(source: Source): Constraint {
  switch (source.below(6)) {
    case 0:
      return {
        kind: "values",
        values: several(source, 1, 3, () => oneOf(source, [1, "ab", "/a/b", true, null, 2, "x", "https://x.com/", 7])),
      };
    case 1: {
      const ends = [
        oneOf(source, [0, 1, 2, 5, -1, Number.NEGATIVE_INFINITY]),
        oneOf(source, [2, 5, 7, 0, Number.POSITIVE_INFINITY]),
      ];
      return { kind: "range", low: Math.min(...ends), high: Math.max(...ends) };
    }
    case 2:
      return { kind: "max_length", length: source.below(5) };
    case 3:
      return { kind: "text", patterns: several(source, 1, 2, () => oneOf(source, alphabet.TEXT_PATTERNS)) };
    case 4:
      return {
        kind: "path",
        patterns: several(source, 1, 2, () => pathPattern(source)),
        pathSettings: chance(source, 15) ? alphabet.OTHER_GROUND : alphabet.PATH_SETTINGS,
      };
    default:
      return { kind: "url", hosts: destinations(source, false), toAscii: alphabet.TO_ASCII };
  }
}

export function argumentsScope(source: Source): ArgumentsScope {
  const places = new Map<string, readonly string[]>();
  for (const at of several(source, 0, 3, () => several(source, 1, 2, () => oneOf(source, alphabet.KEYS))))
    places.set(JSON.stringify(at), at);
  return {
    kind: "arguments",
    constrained: [...places.values()].map((at) => ({ at, constraint: constraint(source) })),
    only: chance(source, 30),
  };
}

export function scope(source: Source, axis: Axis): Scope {
  if (chance(source, 14)) return ANY;
  if (chance(source, 3)) return NOTHING;
  switch (axis.kind) {
    case "destination":
      return destinations(source, axis.keys.includes("private"));
    case "port":
      return { kind: "ports", of: several(source, 1, 2, () => ports(source)) };
    case "word": {
      const words = axis.name === "raw" ? alphabet.WORDS.raw : alphabet.WORDS.mode;
      return { kind: "words", of: chance(source, 50) ? words : [words[0]] };
    }
    case "arguments":
      return argumentsScope(source);
    default: {
      const kind: SequenceKind = axis.kind;
      return { kind: "sequences", of: several(source, 1, 3, () => pattern(source, kind)) };
    }
  }
}
