// How many entries may stand behind the last signature of a log. A version that signs every commit leaves none; older ones
// signed every thousand entries or ten seconds, so what they left is bounded in number and in time.
import { readEntryBody } from "./entry-body.ts";

/** A burst of what an older version wrote between two looks at its clock. */
export const unsignedEntriesMax = 20_000;
/** From the first to the last of them: several times what an older version waited. */
export const unsignedMillisecondsMax = 60_000;

/** What is wrong with entries behind the last note of an older version; null where nothing is. */
export function unsignedProblem(entries: number, first: string, last: string): string | null {
  if (entries === 0) return null;
  if (entries > unsignedEntriesMax)
    return `the last ${entries} entries are not signed: notes were removed, or never made`;
  const [begin, end] = [readEntryBody(first)?.at, readEntryBody(last)?.at];
  // What cannot be read has no time; that it cannot is told elsewhere.
  if (begin === undefined || end === undefined || end - begin <= unsignedMillisecondsMax) return null;
  const seconds = Math.round((end - begin) / 1000);
  return `the last ${entries} entries are not signed, over ${seconds} s: notes were removed, or never made`;
}
