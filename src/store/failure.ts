// What went wrong, and whose fault it was: only what the disk did makes us distrust what we remember.
import { failureCode } from "./sqlite.ts";

/** Error, too big, constraint, mismatch, misuse, range: the numbers are SQLite's and do not change. */
const OWN: readonly number[] = [1, 18, 19, 20, 21, 25];

/** Not the disk's: a row that is there already, a value that does not fit, a mistake of ours. */
export function isOwnFault(error: unknown): boolean {
  const code = failureCode(error);
  return code === null || OWN.includes(code);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
