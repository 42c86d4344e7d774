// A lock on a folder, for one process at a time, that survives crashes. Each holder is a numbered file; the file with
// the highest number is the current holder and is never removed, so that no number is used twice.
import { linkSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityText, ownIdentity, readIdentity, stateOf } from "./daemon/process-identity.ts";

export interface FolderLock {
  /** Higher than the number of every earlier holder. */
  readonly number: number;
  end(): void;
}

const attemptsMax = 4000;
const waitMillisecondsMax = 30;

/** Null, with the blocking file, when the lock cannot be had in time. */
export function takeFolderLock(folder: string): FolderLock | { readonly inTheWay: string } {
  const own = join(folder, `${process.pid}-${Math.random().toString(36).slice(2)}.draft`);
  writeFileSync(own, identityText(ownIdentity()), { flag: "wx", mode: 0o600 });
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const top = highest(folder);
      if (top > 0 && isTaken(nameOf(folder, top))) {
        pause();
        continue;
      }
      const number = top + 1;
      if (!placed(own, nameOf(folder, number))) continue;
      // A slow process may have created a number that was passed long ago. Listed twice: a folder that changes during a
      // listing may leave out both the file that appears and the file that disappears.
      if (highest(folder) > number || highest(folder) > number) {
        rmSync(nameOf(folder, number), { force: true });
        continue;
      }
      clear(folder, number);
      return { number, end: () => truncateSync(nameOf(folder, number)) };
    }
    return { inTheWay: nameOf(folder, highest(folder)) };
  } finally {
    rmSync(own, { force: true });
  }
}

function nameOf(folder: string, number: number): string {
  return join(folder, `${number}.turn`);
}

function numbers(folder: string): readonly number[] {
  return readdirSync(folder).flatMap((name) => {
    const match = /^([1-9]\d{0,14})\.turn$/.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

function highest(folder: string): number {
  return Math.max(0, ...numbers(folder));
}

/** An empty file is a released lock; so is one whose process has ended. */
function isTaken(file: string): boolean {
  try {
    const text = readFileSync(file, "utf8");
    if (text === "") return false;
    const identity = readIdentity(text);
    return identity === null || stateOf(identity) !== "gone";
  } catch {
    // Already superseded.
    return true;
  }
}

/** Created with its content or not at all: a hard link is atomic. */
function placed(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Removes released locks, and temporary files of killed processes. */
function clear(folder: string, current: number): void {
  for (const number of numbers(folder)) if (number < current) rmSync(nameOf(folder, number), { force: true });
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    // An entry is written under the lock, so an incomplete one will never be completed.
    if (name.endsWith(".draft") && (name.includes(".json.") || isLeft(file))) rmSync(file, { force: true });
  }
}

function isLeft(draft: string): boolean {
  try {
    const identity = readIdentity(readFileSync(draft, "utf8"));
    return identity !== null && stateOf(identity) === "gone";
  } catch {
    return false;
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * waitMillisecondsMax);
}
