// Waits until a process is idle: deferred work of one subject must not fall on the next.
import { readFileSync } from "node:fs";

const pollMilliseconds = 150;
const waitMillisecondsMax = 20_000;
/** A hundredth of a second each: what an idle process uses now and then. */
const idleTicksMax = 1;
const tickNanoseconds = 1e7;

export async function untilQuiet(pid: number): Promise<void> {
  const end = performance.now() + waitMillisecondsMax;
  let before = ticksOf(pid);
  for (let still = 0; still < 3 && performance.now() < end; ) {
    await new Promise((done) => setTimeout(done, pollMilliseconds));
    const now = ticksOf(pid);
    still = now - before <= idleTicksMax ? still + 1 : 0;
    before = now;
  }
}

/** CPU of a process so far, in nanoseconds; NaN if the system does not say. */
export function cpuOf(pid: number): number {
  return ticksOf(pid) * tickNanoseconds;
}

function ticksOf(pid: number): number {
  try {
    // Its name is in brackets and may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return Number.NaN;
  }
}
