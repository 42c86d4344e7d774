// How many entries may follow the last signature of a log. A version that signs every commit leaves none; older ones
// signed every thousand entries or ten seconds, so their unsigned tail is bounded in number and in time.
import { readEntryBody } from "./entry-body.ts";

/** A burst that an older version wrote between two checks of its clock. */
export const unsignedEntriesMax = 20_000;
/** From the first to the last of them: several times the interval of an older version. */
export const unsignedMillisecondsMax = 60_000;

/** The problem of entries after the last note of an older version, or null. */
export function unsignedProblem(entries: number, first: string, last: string): string | null {
  if (entries === 0) return null;
  if (entries > unsignedEntriesMax)
    return `the last ${entries} entries are not signed: checkpoints were removed, or never written`;
  const [begin, end] = [readEntryBody(first)?.at, readEntryBody(last)?.at];
  // An unreadable entry has no time; it is reported elsewhere.
  if (begin === undefined || end === undefined || end - begin <= unsignedMillisecondsMax) return null;
  const seconds = Math.round((end - begin) / 1000);
  return `the last ${entries} entries are not signed, over ${seconds} s: checkpoints were removed, or never written`;
}
