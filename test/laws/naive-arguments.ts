// The reference for constrained arguments: every value reachable at the place, each checked by its own implementation of the
// rule.
import type { ArgumentsScope, Constraint } from "../../src/core/authority/axes/constraint.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { naiveDestination } from "./naive.ts";
import { prefixOf } from "./naive-address.ts";
import { naivePathGuards, naiveSequence } from "./naive-text.ts";

export function naiveArguments(scope: ArgumentsScope, value: JsonObject): boolean {
  const places = scope.constrained.map(({ at }) => at);
  if (
    scope.only &&
    leaves(value, []).some((leaf) => !places.some((at) => at.every((key, depth) => leaf[depth] === key)))
  )
    return false;
  return scope.constrained.every(({ at, constraint }) => {
    const reached = reach(value, at);
    return reached?.every((leaf) => naiveConstraint(constraint, leaf)) ?? false;
  });
}

/** The places of everything that is not an object, lists expanded; an empty list or object is a leaf. */
function leaves(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (Array.isArray(value))
    return value.length === 0 ? [path] : (value as readonly Json[]).flatMap((element) => leaves(element, path));
  if (typeof value !== "object" || value === null) return [path];
  const entries = Object.entries(value);
  return entries.length === 0 && path.length > 0
    ? [path]
    : entries.flatMap(([key, inner]) => leaves(inner as Json, [...path, key]));
}

/** All values at a place, lists expanded at every level; null if one is missing or a list is empty. */
function reach(value: Json | undefined, at: readonly string[]): readonly Json[] | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) {
    const all = (value as readonly Json[]).map((element) => reach(element, at));
    return all.length === 0 || all.includes(null) ? null : (all as (readonly Json[])[]).flat();
  }
  const [key, ...rest] = at;
  if (key === undefined) return [value];
  if (typeof value !== "object" || value === null) return null;
  return reach(Object.entries(value).find(([name]) => name === key)?.[1] as Json | undefined, rest);
}

function naiveConstraint(constraint: Constraint, value: Json): boolean {
  switch (constraint.kind) {
    case "values":
      return constraint.values.includes(value as string);
    case "range":
      return typeof value === "number" && !(value < constraint.low) && !(value > constraint.high);
    case "max_length":
      return typeof value === "string" && value.length < constraint.length + 1;
    case "text":
      return typeof value === "string" && constraint.patterns.some((parts) => naiveText(parts, value));
    case "path": {
      const segments =
        typeof value === "string"
          ? naivePath(value, constraint.pathSettings.home ?? [], constraint.pathSettings.base ?? [])
          : null;
      if (segments === null) return false;
      const guards = naivePathGuards(segments, constraint.pathSettings.protectedPaths);
      return constraint.patterns.some((pattern) => naiveSequence(pattern, segments, guards));
    }
    case "url": {
      const host =
        typeof value === "string"
          ? /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?(\/.*)?$/s.exec(value)?.[1]
          : undefined;
      if (host === undefined) return false;
      const six = /^\[([0-9a-f:]+)\]$/.exec(host);
      if (six !== null)
        return naiveDestination(constraint.hosts, {
          name: null,
          address: { family: 6, number: BigInt(`0b${prefixOf(six[1] as string).bits}`) },
        });
      const four = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(host);
      if (four !== null)
        return naiveDestination(constraint.hosts, {
          name: null,
          address: { family: 4, number: four.slice(1).reduce((sum, part) => sum * 256n + BigInt(part), 0n) },
        });
      return naiveDestination(constraint.hosts, {
        name: { segments: host.split(".").reverse(), guarded: null },
        address: null,
      });
    }
  }
}

/** A star matches any characters but slashes, backslashes and control characters; the whole never contains a `..` segment. */
export function naiveText(parts: readonly string[], text: string): boolean {
  if (parts.length === 1) return parts[0] === text;
  if (/(^|[/\\])\.\.([/\\]|$)/.test(text)) return false;
  const source = parts
    .map((part) => part.replace(/[^a-z0-9]/gi, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`))
    .join("[^/\\\\\\u0000-\\u001f\\u007f]*");
  return new RegExp(`^${source}$`).test(text);
}

export function naivePath(text: string, home: readonly string[], base: readonly string[]): string[] | null {
  if (text === "" || text.includes("\0")) return null;
  const whole = text.startsWith("/")
    ? text
    : /^~(\/|$)/.test(text)
      ? `/${home.join("/")}${text.slice(1)}`
      : `/${base.join("/")}/${text}`;
  const kept: string[] = [];
  for (const part of whole.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return kept;
}
