// Timeouts that tolerate suspension of this process: a wait ends when its time has passed, not because the process was stopped.

/** Time in which the process was suspended counts as one part at most: a response may have arrived and not been read yet. */
const parts = 4;

/** Returns a function that cancels the wait. */
export function startTimeout(milliseconds: number, act: () => void): () => void {
  let left = parts;
  const step = (): void => {
    left--;
    if (left > 0) timer = setTimeout(step, milliseconds / parts);
    else act();
  };
  let timer = setTimeout(step, milliseconds / parts);
  return () => clearTimeout(timer);
}

/** The rest of a wait, and at least one part, so that a response that is being written still gets a chance. */
export function timeoutLeft(milliseconds: number, passed: number): number {
  return Math.max(milliseconds / parts, milliseconds - passed);
}
