// A counterexample a person can read and paste: unknown text becomes a word, what was left open becomes something
// ordinary. Each step is kept only if the request still proves the same.

import type { Json } from "../../base/json.ts";
import { guardArgv } from "../axes/argv.ts";
import type { Arguments, Probe } from "../axes/constraint.ts";
import { destinationText } from "../axes/destination.ts";
import { BUILTIN_TOOLS } from "../axes/name.ts";
import { guardPath, type PathSettings, pathText } from "../axes/path.ts";
import { isArguments, isDestination, isSegments, type Value } from "../axes/scope.ts";
import type { Axis } from "../catalog.ts";
import { ANY_TEXT, FOREIGN_TEXT } from "../patterns/reserved.ts";
import { type Segments, segmentsOf } from "../patterns/sequence.ts";
import { riskOf } from "../programs/risky.ts";
import type { Request } from "../request.ts";

const WORD = "any";

export function concreteRequest(
  request: Request,
  protectedPaths: PathSettings["protectedPaths"],
  proves: (request: Request) => boolean,
): Request {
  let best = request;
  for (const [at, axis] of request.verb.axes.entries()) {
    for (const value of concreteValues(axis, best.values[at], protectedPaths)) {
      const values = best.values.map((old, place) => (place === at ? value : old));
      const next: Request = { verb: best.verb, values };
      if (!proves(next)) continue;
      best = next;
      break;
    }
  }
  return best;
}

function concreteValues(axis: Axis, value: Value, protectedPaths: PathSettings["protectedPaths"]): readonly Value[] {
  if (axis.kind === "tool" && isSegments(value) && value.segments[0] === "builtin") {
    return [...BUILTIN_TOOLS.map((name) => segmentsOf(["builtin", name])), value];
  }
  return [concreteValue(axis, value, protectedPaths)];
}

function concreteValue(axis: Axis, value: Value, protectedPaths: PathSettings["protectedPaths"]): Value {
  if (value === undefined) return ordinary(axis);
  if (isDestination(value) && value.name !== null)
    return { name: segmentsOf(value.name.segments.map(spelled)), address: value.address };
  if (isArguments(value) && value.kind === "probes") return concreteArguments(value);
  if (!isSegments(value)) return value;
  if (axis.kind === "path") return guardPath(value.segments.map(spelled), protectedPaths);
  return axis.kind === "argv"
    ? guardArgv(value.segments.map((text, at) => argument(value, text, at)))
    : segmentsOf(value.segments.map(spelled));
}

/** A guarded unknown word stands for an option of the program that no star matches. */
function argument({ segments, guarded }: Segments, text: string, at: number): string {
  const risk = guarded?.[at] === true && text === ANY_TEXT ? riskOf(segments[0] ?? "") : null;
  if (risk === null) return spelled(text);
  return risk.words[0]?.replace("*", WORD) ?? `-${risk.letters[0] ?? ""}`;
}

/** Every value that can be told apart, as a list, at each place that is a plain key. */
function concreteArguments({ at, open }: Extract<Arguments, { kind: "probes" }>): Arguments {
  const built: Record<string, Json> = {};
  for (const [place, probes] of at) {
    const values = probes.map(concreteProbe);
    built[place] = values.length === 1 ? (values[0] ?? null) : values;
  }
  return { kind: "json", value: open && at.size === 0 ? { [WORD]: true } : built };
}

function concreteProbe(probe: Probe): Json {
  switch (probe.kind) {
    case "json":
      return typeof probe.value === "string" ? probe.value.replaceAll(FOREIGN_TEXT, "/") : probe.value;
    case "text":
      return spelled(probe.text);
    case "path":
      return pathText(probe.path.segments.map(spelled));
    case "url":
      return `https://${spelled(destinationText(probe.host))}/`;
  }
}

function spelled(text: string): string {
  return text.replaceAll(ANY_TEXT, WORD);
}

function ordinary(axis: Axis): Value {
  switch (axis.kind) {
    case "port":
      return 443;
    case "path":
    case "argv":
    case "name":
      return segmentsOf([WORD]);
    case "tool":
      return segmentsOf(["tool", WORD]);
    case "destination":
      return { name: segmentsOf(["example", WORD]), address: null };
    case "word":
      return axis.name === "mode" ? "ro" : "sni";
    case "arguments":
      return { kind: "json", value: {} };
  }
}
