// Turns at a folder, one process at a time, that a crash never blocks. A turn is a numbered file; the highest number
// is the current turn and is never removed, so that a number is never given twice.
import { linkSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityText, ownIdentity, readIdentity, stateOf } from "./daemon/process-identity.ts";

export interface Turn {
  /** Higher than that of every turn before. */
  readonly number: number;
  end(): void;
}

const attemptsMax = 4000;
const waitMillisecondsMax = 30;

/** Null, with the file that is in the way, when the others do not come to an end. */
export function takeTurn(folder: string): Turn | { readonly inTheWay: string } {
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
      // Whoever was slow may have placed a number that was passed long ago. Asked twice: a folder that changes while
      // it is listed may leave out the one that comes and the one that goes.
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

/** An empty file is a turn that has ended; so is one whose process has. */
function isTaken(file: string): boolean {
  try {
    const text = readFileSync(file, "utf8");
    if (text === "") return false;
    const identity = readIdentity(text);
    return identity === null || stateOf(identity) !== "gone";
  } catch {
    // Passed already.
    return true;
  }
}

/** With its content, or not at all: a link is made whole. */
function placed(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Turns that are over, and what processes that were killed left lying about. */
function clear(folder: string, current: number): void {
  for (const number of numbers(folder)) if (number < current) rmSync(nameOf(folder, number), { force: true });
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    // An entry is written in a turn, so one that is not whole now never will be.
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
