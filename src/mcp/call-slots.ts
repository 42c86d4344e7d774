// Limits concurrent calls. Waiting calls get a slot in order of arrival; a cancelled call leaves the queue.

export class CallSlots {
  readonly #max: number;
  #used = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves to false, without a slot, when the call is cancelled first. */
  acquire(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#used < this.#max) {
      this.#used++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const start = (): void => {
        signal.removeEventListener("abort", cancel);
        resolve(true);
      };
      const cancel = (): void => {
        this.#waiting.delete(start);
        resolve(false);
      };
      this.#waiting.add(start);
      signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /** Passes the slot to the call that has waited longest. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#used--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
