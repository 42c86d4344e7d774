// The smallest grant that would allow a request: one pattern on each axis, and that pattern matches nothing else.
import { addressText, parseRange } from "../base/address.ts";
import { constrainedArgumentsMax } from "../base/limits.ts";
import { isSpecial } from "../base/special.ts";
import type { Arguments, ConstrainedArgument } from "./axes/constraint.ts";
import type { Destination } from "./axes/destination.ts";
import { tree } from "./axes/path.ts";
import { isRootWord, rootWordsWithin } from "./axes/root-word.ts";
import { ANY, isArguments, isDestination, isSegments, type Scope, type Value } from "./axes/scope.ts";
import { type Axis, verbEntry } from "./catalog.ts";
import { type Grant, UNCONDITIONAL } from "./grant.ts";
import { literal } from "./patterns/segment.ts";
import type { Request } from "./request.ts";

/** Null where no text says just that: arguments inside arguments, or a request that does not say what it is about. */
export function suggestGrant(request: Request): Grant | null {
  const { verb, values } = request;
  const args = values.find(isArguments);
  if (args !== undefined && exactArguments(args) === null) return null;
  if (verb.family === "external" && verb.axes.length > 0 && values[0] === undefined) return null;
  const path = verb.axes.findIndex((axis) => axis.name === "path" && axis.kind === "path");
  const value = path < 0 ? undefined : values[path];
  // An agent is named by its id; the pattern over the same id adds nothing. A record has no other name.
  const named = verb.axes.some((axis) => axis.name === "id");
  return {
    verb,
    scopes: verb.axes.map((axis, at) =>
      named && axis.kind === "name" && axis.name === "path" ? ANY : exactly(axis, values[at]),
    ),
    conditions: UNCONDITIONAL,
    root: isSegments(value) ? value.segments.slice(0, -1) : null,
    span: null,
    implied: null,
  };
}

/** Leave to write everywhere below a root: what a process needs besides, to change it. */
export function suggestRoot(root: readonly string[]): Grant | null {
  const verb = verbEntry("fs.write");
  if (verb === null) return null;
  const scopes: readonly Scope[] = [{ kind: "sequences", of: [tree(root)] }];
  return { verb, scopes, conditions: UNCONDITIONAL, root, span: null, implied: null };
}

/** Just these arguments with just these values. */
function exactArguments(value: Arguments): Scope | null {
  const entries = value.kind === "json" ? Object.entries(value.value) : [];
  if (entries.length === 0) return ANY;
  if (entries.length > constrainedArgumentsMax) return null;
  const constrained: ConstrainedArgument[] = [];
  for (const [key, one] of entries) {
    if (typeof one === "object" && one !== null) return null;
    constrained.push({ at: [key], constraint: { kind: "values", values: [one] } });
  }
  return { kind: "arguments", constrained, only: true };
}

function exactly(axis: Axis, value: Value): Scope {
  if (value === undefined) return ANY;
  if (isArguments(value)) return exactArguments(value) ?? ANY;
  if (isSegments(value)) {
    // A process has a tree for its root, never less.
    return { kind: "sequences", of: [axis.name === "root" ? tree(value.segments) : value.segments.map(literal)] };
  }
  if (isDestination(value)) return exactDestination(value);
  if (typeof value === "number") return { kind: "ports", of: [{ low: value, high: value }] };
  if (typeof value === "string")
    return {
      kind: "words",
      of: isRootWord(value) ? rootWordsWithin(value) : value === "raw" ? ["sni", "raw"] : [value],
    };
  return ANY;
}

function exactDestination({ name, address }: Destination): Scope {
  const range = address === null ? null : parseRange(addressText(address));
  const ranges = range?.ok === true ? [range.value] : [];
  if (name === null) return { kind: "destinations", names: [], ranges, everyPublic: false, openings: [] };
  const exact = name.segments.map(literal);
  const special = address !== null && isSpecial(address);
  return {
    kind: "destinations",
    names: [exact],
    ranges: [],
    everyPublic: false,
    openings: special ? ranges.map((one) => ({ name: exact, range: one })) : [],
  };
}
