// Removes a folder with the state of a daemon that may still run: it can create a folder while others are removed, and exits once
// its state is gone.
import { rmSync } from "node:fs";

const attemptsMax = 50;
const pauseMilliseconds = 20;

export function removeState(folder: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === attemptsMax) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds);
    }
  }
}
