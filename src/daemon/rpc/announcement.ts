// Reports the start of the daemon to the process that started it: one line on a pipe.
import { closeSync, fstatSync, writeSync } from "node:fs";
import type { Answer } from "../../core/ports/daemon/exchange.ts";

const PIPE = 3;
/** Without this argument the descriptor of that number belongs to Node. */
export const ANNOUNCE_ARGUMENT = "--announce";

/** A daemon started by hand has no pipe; then nothing is sent. */
export function announce(outcome: Answer<unknown>): void {
  if (process.argv.at(-1) !== ANNOUNCE_ARGUMENT) return;
  try {
    const pipe = fstatSync(PIPE);
    if (!pipe.isFIFO() && !pipe.isSocket()) return;
    writeSync(PIPE, outcome.ok ? "ready\n" : `${JSON.stringify(outcome)}\n`);
    closeSync(PIPE);
  } catch {
    // The starting process is gone.
  }
}
