// So many at once, the others in the order they came. Who has given up meanwhile takes nobody's turn.

export class Turns {
  readonly #max: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when it is its turn, or at once when it is not wanted any more: then there is no turn to give back. */
  take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#taken < this.#max) {
      this.#taken++;
      return Promise.resolve(true);
    }
    return new Promise((give) => {
      const forget = (): void => {
        this.#waiting.delete(go);
        give(false);
      };
      const go = (): void => {
        signal.removeEventListener("abort", forget);
        give(true);
      };
      this.#waiting.add(go);
      signal.addEventListener("abort", forget, { once: true });
    });
  }

  /** The next one goes on in its place. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
