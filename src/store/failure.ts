// Classifies errors: only failures of the disk invalidate the in-memory state.
import { failureCode } from "./sqlite.ts";

/** Error, too big, constraint, mismatch, misuse, range: SQLite's result codes, which are stable. */
const OWN: readonly number[] = [1, 18, 19, 20, 21, 25];

/** Not a failure of the disk: a duplicate row, a value that does not fit, a bug of ours. */
export function isOwnFault(error: unknown): boolean {
  const code = failureCode(error);
  return code === null || OWN.includes(code);
}
