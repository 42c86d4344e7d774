// Waits until something holds that reports no event: another process has written a file, exited, or changed its answer.
import { pause } from "./pause.ts";

const pollMilliseconds = 10;
/** As long as a busy machine may take; a test that gets here has failed. */
const untilMillisecondsMax = 60_000;

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  if (!(await holdsWithin(untilMillisecondsMax, holds))) throw new Error(`never happened: ${what}`);
}

/** Whether it holds within this time; `every`: milliseconds between two looks, longer where each look starts a program. */
export async function holdsWithin(
  milliseconds: number,
  holds: () => boolean | Promise<boolean>,
  every: number = pollMilliseconds,
): Promise<boolean> {
  const end = performance.now() + milliseconds;
  while (!(await holds())) {
    if (performance.now() > end) return false;
    await pause(every, "there is no event to wait for");
  }
  return true;
}
