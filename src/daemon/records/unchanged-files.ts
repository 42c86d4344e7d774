// Detects changes of files and folders by their times, once these are old enough to be reliable.

import { lstatSync, type Stats } from "node:fs";

/** Longer than the coarsest file system timestamps: two changes closer than that could look like one. */
const settledMilliseconds = 3000;

/** Does not follow symlinks; null if it is missing or inaccessible. */
export function factsAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Only the kernel sets ctime; adding, removing or replacing names sets the folder's. */
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

export class InputTurns {
  #number = 0;
  #isOpen = false;

  /** Changes with every turn. */
  get now(): number {
    if (!this.#isOpen) {
      this.#isOpen = true;
      // Runs after all synchronous work, and before more input is read.
      process.nextTick(() => {
        this.#isOpen = false;
        this.#number++;
      });
    }
    return this.#number;
  }
}
