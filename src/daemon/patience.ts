// Waiting that is over when its time is over, and not because this process was stopped for as long.

/** Of the time in which nothing of us ran one part counts at most: whoever answered meanwhile has not been heard yet. */
const parts = 4;

/** Returns what ends the wait before it rings. */
export function outwait(milliseconds: number, ring: () => void): () => void {
  let left = parts;
  const step = (): void => {
    left--;
    if (left > 0) timer = setTimeout(step, milliseconds / parts);
    else ring();
  };
  let timer = setTimeout(step, milliseconds / parts);
  return () => clearTimeout(timer);
}

/** What is left of a time to wait, and never less than one part: what is written by then gets a chance. */
export function patienceLeft(milliseconds: number, passed: number): number {
  return Math.max(milliseconds / parts, milliseconds - passed);
}
