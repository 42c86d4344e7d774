// Grants written as a list of compact specs, and why one of them is not understood.
import { isNothing } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { readCompact } from "./compact.ts";

const specCharactersMax = 80;
const messageCharactersMax = 400;

/** Null if any of them cannot be parsed: the intent is unknown. */
export function parseSpecs(
  specs: readonly string[],
  reading: Reading,
  /** The folder of `fs.*` and `proc.*` grants that name none. */
  root: readonly string[] | null = null,
): readonly Grant[] | null {
  const diagnostics = new Diagnostics();
  const grants: Grant[] = [];
  for (const spec of specs) {
    const span = { source: "delegation", start: 0, end: spec.length };
    const grant = readCompact(spec, { reading, diagnostics, span, root });
    if (grant === null) return null;
    grants.push(grant);
  }
  return diagnostics.list.some(({ severity }) => severity === "error") ? null : grants;
}

/** The first invalid spec, and why. `noun`: what each of them is called. */
export function specFault(noun: string, specs: readonly string[], reading: Reading): string {
  const at = specs.findIndex((spec) => parseSpecs([spec], reading) === null);
  const spec = specs[at];
  if (spec === undefined) return `one ${noun} cannot be parsed`;
  return `${specName(noun, specs, at)} cannot be parsed: ${reasonOf(spec, reading)}`;
}

/** The first spec that covers nothing, and what to do; null if there is none. `grants`: the specs, parsed. */
export function emptySpec(noun: string, specs: readonly string[], grants: readonly Grant[]): string | null {
  const at = grants.findIndex(({ scopes }) => scopes.some(isNothing));
  const [grant, spec] = [grants[at], specs[at]];
  if (grant === undefined || spec === undefined) return null;
  const { verb, axes } = grant.verb;
  const key = axes[0]?.keys[0];
  // An empty list is what covers nothing, whatever else is added.
  const isEmpty = key === undefined || spec.includes(key) || spec.includes("[]");
  const fix = isEmpty ? `leave ${verb} out` : `add \`${key}\``;
  return `${specName(noun, specs, at)} covers nothing: ${fix}`;
}

function specName(noun: string, specs: readonly string[], at: number): string {
  const spec = specs[at] ?? "";
  const which = specs.length === 1 ? `the ${noun}` : `${noun} ${at + 1}`;
  return `${which}, ${JSON.stringify(spec.length > specCharactersMax ? `${spec.slice(0, specCharactersMax)}...` : spec)},`;
}

/**
 * INVARIANT: derived from the text alone, without access to the machine. Symlink targets, the home folder and existing files
 * are not revealed to a caller that may hold nothing.
 */
function reasonOf(spec: string, { toAscii }: Reading): string {
  const diagnostics = new Diagnostics();
  const span = { source: "spec", start: 0, end: spec.length };
  const pathSettings = { home: ["~"], base: ["."], protectedPaths: [] };
  readCompact(spec, { reading: { pathSettings, toAscii, ceiling: null }, diagnostics, span, root: null });
  const first = diagnostics.list.find(({ severity }) => severity === "error");
  if (first === undefined) return "a folder in it does not resolve here";
  const { message, suggestion, fix } = first;
  const place = first.span.start > 0 ? ` (at character ${first.span.start + 1})` : "";
  const hint = suggestion === null ? (fix === null ? "" : `; write ${fix}`) : `; did you mean ${suggestion}?`;
  return `${message}${place}${hint}`.slice(0, messageCharactersMax);
}
