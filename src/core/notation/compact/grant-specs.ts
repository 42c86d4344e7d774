// Grants written as a list of compact specs, and why one of them is not understood.
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
  if (spec === undefined) return `one ${noun} is not understood`;
  const which = specs.length === 1 ? `the ${noun}` : `${noun} ${at + 1}`;
  const shown = JSON.stringify(spec.length > specCharactersMax ? `${spec.slice(0, specCharactersMax)}...` : spec);
  return `${which}, ${shown}, is not understood: ${reasonOf(spec, reading)}`;
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
