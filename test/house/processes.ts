// Which processes of this machine run.
import { readdirSync, readFileSync } from "node:fs";

/** One that has exited does not, even if its parent has not yet read its status: some inits take a second for that. */
export function isRunning(pid: number): boolean {
  try {
    // The name of the program is in parentheses and may contain any character.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** The processes that have this among their arguments: a number of seconds to sleep, for example, that only one test uses. */
export function processesWith(word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(word))
    .map(Number);
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
