// The only timed waits of the tests. What another process does is awaited with `until`; here a duration is itself what the test is
// about, or a clock has to move on, and the call says why. The tidy test finds any other timed wait.
import { setTimeout } from "node:timers/promises";

/** `_reason`: why a duration, and no event or state that could be awaited. */
export async function pause(milliseconds: number, _reason: string): Promise<void> {
  await setTimeout(milliseconds);
}

/** The same for code that cannot be asynchronous: nothing else of this process runs meanwhile. */
export function pauseThread(milliseconds: number, _reason: string): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
