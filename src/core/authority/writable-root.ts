// A process may change its root only where the same chain also covers writing there, to the last file below it.

import { isSegments } from "./axes/scope.ts";
import { verbEntry } from "./catalog.ts";
import { type Chain, chainLevel } from "./chain.ts";
import type { Moment } from "./compiled.ts";
import { countedIsSpent } from "./counted.ts";
import type { Grant, Level, Purpose } from "./grant.ts";
import { ANY_TEXT } from "./patterns/reserved.ts";
import { type Segments, starSegments } from "./patterns/sequence.ts";
import type { Request } from "./request.ts";

const WRITE = verbEntry("fs.write");

/** The root a request wants to write in; null for a request that does not. */
export function writtenRoot({ verb, values }: Request): Segments | null {
  const mode = verb.axes.findIndex((axis) => axis.name === "mode");
  const root = values[verb.axes.findIndex((axis) => axis.name === "root")];
  const isWritten = values[mode] === "rw" || values[mode] === "live";
  return mode >= 0 && isWritten && isSegments(root) ? root : null;
}

/**
 * The level at which the chain covers writing the whole tree, or -1. As in `witness.ts`, unknown names stand for all.
 * INVARIANT: the root keeps its guards: a tree in a protected path is written only where a grant names that path.
 */
export function writeLevel(chain: Chain, root: Segments, moment: Moment, purpose: Purpose): Level | -1 {
  if (WRITE === null) return -1;
  let stars = 0;
  for (const compiled of chain) {
    for (const index of compiled.grantsOf(WRITE)) {
      const scope = (compiled.link.grants[index] as Grant).scopes[0];
      if (scope?.kind === "sequences") for (const pattern of scope.of) stars = Math.max(stars, starSegments(pattern));
    }
  }
  // Writes of a process are not charged: a counted grant does not make a whole tree writable.
  const uncounted = { ...moment, exhausted: countedIsSpent([chain]) };
  let level: Level = 0;
  for (let copies = 0; copies <= stars + 1; copies++) {
    const unknown = new Array<string>(copies).fill(ANY_TEXT);
    const guarded = root.guarded === null ? null : [...root.guarded, ...unknown.map(() => false)];
    const value = { segments: [...root.segments, ...unknown], guarded };
    const one = chainLevel(chain, { verb: WRITE, values: [value] }, uncounted, purpose);
    if (one < 0) return -1;
    if (one > level) level = one as Level;
  }
  return level;
}
