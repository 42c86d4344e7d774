// How many threads an account has. The kernel compares the limit of processes with all of them, on the whole machine, so
// without control groups the limit of a sandbox is set above those that run already.
import { readdirSync, readFileSync, statSync } from "node:fs";

/** Processes of the account that are not dumpable, such as our own supervisors, are shown as root's. */
const disguisedThreadsMax = 64;

/**
 * Threads of this account, and those that are not shown to us (of another container), which may be of it. By the owner of
 * each folder in /proc and the links of its threads: reading every status takes longer than starting a sandbox.
 */
export function accountThreads(user: number, proc = "/proc"): number {
  const total = Number(/^\S+ \S+ \S+ \d+\/(\d+) /.exec(readFileSync(`${proc}/loadavg`, "utf8"))?.[1] ?? 0);
  // The kernel does not limit root's.
  if (user === 0) return total;
  let others = 0;
  for (const name of readdirSync(proc)) if (/^\d+$/.test(name)) others += threadsOfOthers(`${proc}/${name}`, user);
  return Math.max(0, total - others) + disguisedThreadsMax;
}

function threadsOfOthers(folder: string, user: number): number {
  try {
    // The folder itself and its name in the one above are the first two links.
    return statSync(folder).uid === user ? 0 : statSync(`${folder}/task`).nlink - 2;
  } catch {
    return 0;
  }
}
