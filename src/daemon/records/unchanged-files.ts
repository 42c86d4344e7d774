// Files and folders that have not changed for a while: from then on whatever is done to one shows in its times.
import { lstatSync, type Stats } from "node:fs";

/** More than the coarsest times a file system keeps: two changes closer than that could look like one. */
const settledMilliseconds = 3000;

/** Of a name itself, where it is a link; null where there is nothing, or nothing can be seen. */
export function factsAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** The kernel alone sets the time of change; names in a folder that come, go or become something else set the folder's. */
export function isSettled({ ctimeMs }: Stats, nowMilliseconds: number): boolean {
  return nowMilliseconds - ctimeMs > settledMilliseconds;
}

export function isUnchanged(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs &&
    before.ino === now.ino &&
    before.dev === now.dev &&
    before.mtimeMs === now.mtimeMs &&
    before.size === now.size
  );
}
