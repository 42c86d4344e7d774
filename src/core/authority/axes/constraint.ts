// What one argument of a tool call may be. Each constrained argument has exactly one kind of constraint.

import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../base/json.ts";
import type { Result } from "../../base/result.ts";
import { FOREIGN_TEXT } from "../patterns/reserved.ts";
import { type Segments, type Sequence, sequenceMatches } from "../patterns/sequence.ts";
import { type Destination, type DestinationScope, destinationMatches, type ToAscii } from "./destination.ts";
import { type PathSettings, parseWrittenPath } from "./path.ts";
import { parseUrl } from "./url.ts";

export type Constraint =
  | { readonly kind: "values"; readonly values: readonly (string | number | boolean | null)[] }
  | { readonly kind: "range"; readonly low: number; readonly high: number }
  | { readonly kind: "max_length"; readonly length: number }
  /** Each entry is the text between its stars. */
  | { readonly kind: "text"; readonly patterns: readonly (readonly string[])[] }
  | { readonly kind: "path"; readonly patterns: readonly Sequence[]; readonly pathSettings: PathSettings }
  | { readonly kind: "url"; readonly hosts: DestinationScope; readonly toAscii: ToAscii };

export interface ConstrainedArgument {
  /** Where in the arguments: keys from the outside in. A list on the way means every element. */
  readonly at: readonly string[];
  readonly constraint: Constraint;
}

export interface ArgumentsScope {
  readonly kind: "arguments";
  readonly constrained: readonly ConstrainedArgument[];
  /** Refuse arguments that are not named here. */
  readonly only: boolean;
}

/**
 * The arguments of a call, or of a witness. A witness cannot be spelled as JSON (its paths hold unknown segments),
 * so it carries probes by the place they stand at.
 */
export type Arguments =
  | { readonly kind: "json"; readonly value: JsonObject }
  | {
      readonly kind: "probes";
      readonly open: boolean;
      readonly at: ReadonlyMap<string, readonly Probe[]>;
    };

/** One value an argument could have. */
export type Probe =
  | { readonly kind: "json"; readonly value: Json }
  /** Text of any length, its stars replaced. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly path: Segments }
  | { readonly kind: "url"; readonly host: Destination };

export function placeText(at: readonly string[]): string {
  return at.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))).join(".");
}

export function argumentsMatch(scope: ArgumentsScope, value: Arguments): boolean {
  if (scope.only && !onlyNamed(scope, value)) return false;
  return scope.constrained.every((argument) => {
    if (value.kind === "json") return holds(argument.constraint, argument.at, 0, value.value);
    const probes = value.at.get(placeText(argument.at));
    return probes?.every((probe) => probeHolds(argument.constraint, probe)) ?? false;
  });
}

/** Refuses what is not named, at any depth: an argument is named, or lies on the way to one that is. */
function onlyNamed(scope: ArgumentsScope, value: Arguments): boolean {
  if (value.kind === "json") return isNamed(scope.constrained, [], value.value);
  if (value.open) return false;
  return [...value.at.keys()].every((place) => scope.constrained.some((argument) => placeText(argument.at) === place));
}

function isNamed(constrained: readonly ConstrainedArgument[], path: readonly string[], value: Json): boolean {
  if (constrained.some(({ at }) => at.length === path.length && at.every((key, depth) => key === path[depth])))
    return true;
  if (isJsonList(value)) return value.every((element) => isNamed(constrained, path, element));
  if (!isJsonObject(value)) return path.length === 0;
  return Object.keys(value).every((key) => {
    const next = [...path, key];
    const onTheWay = constrained.some(
      ({ at }) => next.length <= at.length && next.every((name, depth) => name === at[depth]),
    );
    return onTheWay && isNamed(constrained, next, value[key] as Json);
  });
}

/** A constrained argument must be there, and be of the right type; an empty list holds nothing, so it is refused. */
function holds(constraint: Constraint, at: readonly string[], depth: number, value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (isJsonList(value)) return value.length > 0 && value.every((element) => holds(constraint, at, depth, element));
  if (depth === at.length) return probeHolds(constraint, { kind: "json", value });
  return isJsonObject(value) && holds(constraint, at, depth + 1, member(value, at[depth] as string));
}

function probeHolds(constraint: Constraint, probe: Probe): boolean {
  const value = probe.kind === "json" ? probe.value : null;
  switch (constraint.kind) {
    case "values":
      return probe.kind === "json" && constraint.values.some((one) => one === value);
    case "range":
      return typeof value === "number" && value >= constraint.low && value <= constraint.high;
    case "max_length":
      return typeof value === "string" && value.length <= constraint.length;
    case "text": {
      const text = probe.kind === "text" ? probe.text : value;
      return typeof text === "string" && constraint.patterns.some((parts) => textMatches(parts, text));
    }
    case "path": {
      const path =
        probe.kind === "path"
          ? probe.path
          : typeof value === "string"
            ? orNull(parseWrittenPath(value, constraint.pathSettings))
            : null;
      return path !== null && constraint.patterns.some((pattern) => sequenceMatches(pattern, path));
    }
    case "url": {
      const host =
        probe.kind === "url"
          ? probe.host
          : typeof value === "string"
            ? (orNull(parseUrl(value, constraint.toAscii))?.host ?? null)
            : null;
      return host !== null && destinationMatches(constraint.hosts, host);
    }
  }
}

function orNull<T>(result: Result<T>): T | null {
  return result.ok ? result.value : null;
}

const FOREIGN = new RegExp(`[/\\\\\\u0000-\\u001f\\u007f${FOREIGN_TEXT}]`);

/** A star never matches `/`, `\`, a control character, or what would make a `..` segment. */
export function textMatches(parts: readonly string[], text: string): boolean {
  if (parts.length === 1) return parts[0] === text;
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (let index = 1; index < parts.length; index++) {
    const part = parts[index] as string;
    const found = index === parts.length - 1 ? end : text.indexOf(part, from);
    if (found < from || found + part.length > text.length || FOREIGN.test(text.slice(from, found))) return false;
    from = found + part.length;
  }
  return !text.split(/[/\\]/).includes("..");
}
