// The texts a file had before our edits, newest first, in the user's state folder: the last few, each with a digest of
// the text that followed.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "./digest.ts";
import { readTextFile } from "./files.ts";
import { writeWhole } from "./write-whole.ts";

export interface UndoEntry {
  readonly number: number;
  /** Null: the file did not exist. */
  readonly before: string | null;
  /** Digest of the text that followed; null where the file was removed. */
  readonly after: string | null;
}

const pastsMax = 20;
/** Size limit of a text escaped as JSON. */
const entryCharactersMax = 8 * 1024 * 1024;

/** `number`: that of the folder lock, so that entries are in the order of the edits. */
export function remember(folder: string, number: number, before: string | null, after: string | null): void {
  const entry = { before, after: after === null ? null : sha256(after) };
  writeWhole(join(folder, `${number}.json`), JSON.stringify(entry));
  for (const old of numbersIn(folder).slice(pastsMax)) drop(folder, old);
}

/**
 * The latest edit that produced this text; null where there is none, or where another program changed the file since.
 */
export function pastOf(folder: string, current: string | null): UndoEntry | null {
  const digest = current === null ? null : sha256(current);
  for (const number of numbersIn(folder)) {
    const past = read(folder, number);
    if (past === null) return null;
    if (past.after === digest && past.before !== current) return past;
    // An unfinished edit left its entry behind and the text unchanged.
    if (past.before !== current) return null;
  }
  return null;
}

/** Removes an edit from the undo entries, with later ones that were never finished. */
export function forget(folder: string, from: number): void {
  for (const number of numbersIn(folder)) if (number >= from) drop(folder, number);
}

function drop(folder: string, number: number): void {
  rmSync(join(folder, `${number}.json`), { force: true });
}

function numbersIn(folder: string): readonly number[] {
  try {
    const numbers = readdirSync(folder).flatMap((name) => {
      const match = /^([1-9]\d{0,14})\.json$/.exec(name);
      return match === null ? [] : [Number(match[1])];
    });
    return numbers.sort((left, right) => right - left);
  } catch {
    return [];
  }
}

function read(folder: string, number: number): UndoEntry | null {
  const file = readTextFile(join(folder, `${number}.json`), entryCharactersMax);
  if (!file.ok) return null;
  try {
    const { before, after } = JSON.parse(file.text) as Partial<UndoEntry>;
    const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
    return isText(before) && isText(after) ? { number, before, after } : null;
  } catch {
    return null;
  }
}
