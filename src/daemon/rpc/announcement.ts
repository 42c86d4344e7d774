// Tells whoever started the daemon how that went: one line on a pipe, and nothing after it.
import { closeSync, fstatSync, writeSync } from "node:fs";
import type { Answer } from "../../core/ports/daemon/exchange.ts";

const PIPE = 3;
/** Without this word the descriptor of that number is one of Node's own. */
export const ANNOUNCE_WORD = "--announce";

/** Nobody listens where it was started by hand; then nothing is said. */
export function announce(outcome: Answer<unknown>): void {
  if (process.argv.at(-1) !== ANNOUNCE_WORD) return;
  try {
    const pipe = fstatSync(PIPE);
    if (!pipe.isFIFO() && !pipe.isSocket()) return;
    writeSync(PIPE, outcome.ok ? "ready\n" : `${JSON.stringify(outcome)}\n`);
    closeSync(PIPE);
  } catch {
    // Whoever started us is gone.
  }
}
