// Random requests near given grants: most values are made from a pattern of one of them, some are modified.

import { guardArgv } from "../../src/core/authority/axes/argv.ts";
import type { Arguments, Constraint } from "../../src/core/authority/axes/constraint.ts";
import type { Destination } from "../../src/core/authority/axes/destination.ts";
import { guardPath } from "../../src/core/authority/axes/path.ts";
import type { Scope, Value } from "../../src/core/authority/axes/scope.ts";
import type { Axis, VerbEntry } from "../../src/core/authority/catalog.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Segment } from "../../src/core/authority/patterns/segment.ts";
import { type Segments, type Sequence, segmentsOf } from "../../src/core/authority/patterns/sequence.ts";
import type { Request } from "../../src/core/authority/request.ts";
import { type Address, addressOf } from "../../src/core/base/address.ts";
import { isJsonObject, type Json } from "../../src/core/base/json.ts";
import * as alphabet from "./alphabet.ts";
import { range } from "./scopes.ts";
import { pattern, type SequenceKind } from "./sequences.ts";
import { chance, oneOf, type Source, several } from "./source.ts";

const TEXTS: Readonly<Record<SequenceKind, readonly string[]>> = {
  path: alphabet.PATH_TEXTS,
  name: alphabet.NAME_TEXTS,
  tool: ["builtin", "tool", ...alphabet.NAME_TEXTS],
  host: alphabet.LABELS,
  argv: [...alphabet.TOKENS, ...alphabet.OTHER_TOKENS],
};

function fill(source: Source, segment: Segment, texts: readonly string[]): string[] {
  switch (segment.kind) {
    case "literal":
      return [segment.text];
    case "glob":
      return [
        segment.parts.reduce((before, part) => before + oneOf(source, ["", "a", "b", "s", "-", "z", "/", "n"]) + part),
      ];
    case "one":
      return [oneOf(source, texts)];
    case "deep":
    case "rest":
      return several(source, 0, 3, () => oneOf(source, texts));
  }
}

/** One list of segments the pattern matches, or one that differs by one step. */
export function instance(source: Source, sequence: Sequence, kind: SequenceKind): readonly string[] {
  const texts = TEXTS[kind];
  const list = sequence.flatMap((segment, at) =>
    fill(source, segment, kind === "argv" && at === 0 ? alphabet.PROGRAMS : texts),
  );
  if (chance(source, 25)) {
    const at = source.below(list.length + 1);
    const how = source.below(3);
    if (how === 0) list.splice(at, 1);
    else list.splice(at, how - 1, oneOf(source, texts));
  }
  return list;
}

export function guard(kind: SequenceKind, list: readonly string[]): Segments {
  if (kind === "path") return guardPath(list, alphabet.PROTECTED);
  return kind === "argv" ? guardArgv(list) : segmentsOf(list);
}

const LEAST: Readonly<Record<SequenceKind, number>> = { path: 0, name: 1, tool: 2, host: 1, argv: 1 };

export function segmentsNear(source: Source, kind: SequenceKind, patterns: readonly Sequence[]): Segments {
  const near = patterns.length > 0 && chance(source, 85) ? oneOf(source, patterns) : pattern(source, kind);
  const list = [...instance(source, near, kind)];
  while (list.length < LEAST[kind]) list.push(oneOf(source, kind === "argv" ? alphabet.PROGRAMS : TEXTS[kind]));
  return guard(kind, list);
}

export function addressNear(source: Source): Address {
  const { family, low, high } = range(source);
  const top = family === 4 ? (1n << 32n) - 1n : (1n << 128n) - 1n;
  const number = oneOf(source, [
    low,
    high,
    low + (high - low) / 2n,
    low === 0n ? low : low - 1n,
    high === top ? high : high + 1n,
  ]);
  return addressOf(family, number);
}

export function destinationNear(source: Source, scopes: readonly Scope[], resolved: boolean): Destination {
  if (chance(source, 30)) return { name: null, address: addressNear(source) };
  const names = scopes.flatMap((scope) =>
    scope.kind === "destinations" ? [...scope.names, ...scope.openings.map((opening) => opening.name)] : [],
  );
  return {
    name: segmentsNear(source, "host", names),
    address: resolved && chance(source, 55) ? addressNear(source) : null,
  };
}

export function jsonNear(source: Source, constraint: Constraint | null): Json {
  const texts = [
    ...alphabet.TEXTS,
    "/a/b",
    "~/x",
    "rel",
    "/h/u/.ssh/key",
    "/h/u/../u/.ssh",
    "https://x.com/",
    "http://a.x.com:80/q",
    "https://8.8.8.8/",
    "https://10.1.2.3",
    "https://u@x.com/",
    "ftp://x.com/",
  ];
  if (chance(source, 12)) return several(source, 0, 2, () => jsonNear(source, constraint));
  if (constraint !== null && chance(source, 70)) {
    switch (constraint.kind) {
      case "values":
        return oneOf(source, constraint.values);
      case "range":
        return oneOf(
          source,
          [constraint.low, constraint.high, constraint.low - 1, constraint.high + 1, 3].filter(Number.isFinite),
        );
      case "max_length":
        return "q".repeat(constraint.length + source.below(2));
      case "text":
        return oneOf(source, constraint.patterns).reduce(
          (before, part) => before + oneOf(source, ["", "a", "/", "..", ".", "b"]) + part,
        );
      case "path": {
        const list = instance(source, oneOf(source, constraint.patterns), "path");
        const [base, ...rest] = list;
        // Relative to its folder, the same path may be shorter.
        const short = base === constraint.pathSettings.base?.[0] && rest.length > 0 && chance(source, 50);
        return short ? rest.join("/") : `/${list.join("/")}`;
      }
      case "url": {
        const host = destinationNear(source, [constraint.hosts], false);
        return `https://${host.name === null ? "8.8.8.8" : [...host.name.segments].reverse().join(".")}/a`;
      }
    }
  }
  return oneOf<Json>(source, [...texts, 0, 1, 2, 5, 7, true, null, { a: 1 }]);
}

/** Sets a value at a place, on request inside a list of one; obstacles are replaced. */
function put(object: { [key: string]: Json }, at: readonly string[], value: Json, list: boolean): void {
  const [key, ...rest] = at;
  if (key === undefined) return;
  if (rest.length === 0) {
    object[key] = value;
    return;
  }
  const before = object[key];
  const inner: { [key: string]: Json } = isJsonObject(before) ? { ...before } : {};
  put(inner, rest, value, false);
  object[key] = list ? [inner] : inner;
}

function argumentsNear(source: Source, scopes: readonly Scope[]): Arguments {
  const near = scopes.length > 0 ? oneOf(source, scopes) : null;
  const value: { [key: string]: Json } = {};
  if (near?.kind === "arguments") {
    for (const { at, constraint } of near.constrained) {
      if (chance(source, 8)) continue;
      put(value, at, jsonNear(source, constraint), chance(source, 10));
    }
  }
  if (chance(source, 25)) value[oneOf(source, [...alphabet.KEYS, "other"])] = jsonNear(source, null);
  return { kind: "json", value };
}

function valueNear(source: Source, axis: Axis, scopes: readonly Scope[]): Value {
  if (chance(source, 4)) return undefined;
  switch (axis.kind) {
    case "destination":
      return destinationNear(source, scopes, axis.keys.includes("private"));
    case "port": {
      const port = oneOf(source, [80, 1, 22, 443, 444, 445, 2, 79, 8080, 65_535]);
      return port;
    }
    case "word":
      return oneOf(source, axis.name === "raw" ? alphabet.WORDS.raw : alphabet.WORDS.mode);
    case "arguments":
      return argumentsNear(source, scopes);
    default:
      return segmentsNear(
        source,
        axis.kind,
        scopes.flatMap((scope) => (scope.kind === "sequences" ? scope.of : [])),
      );
  }
}

/** Close to one of the grants on every axis; without grants, any request of the verb. */
export function requestNear(source: Source, verb: VerbEntry, grants: readonly Grant[]): Request {
  const same = grants.filter((grant) => grant.verb === verb);
  const near = same.length > 0 ? oneOf(source, same) : null;
  return {
    verb,
    values: verb.axes.map((axis, at) => valueNear(source, axis, near === null ? [] : [near.scopes[at] as Scope])),
  };
}
