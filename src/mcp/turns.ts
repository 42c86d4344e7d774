// So many at once, the others in the order they came. Who has given up meanwhile takes nobody's turn.
import type { Wanted } from "./wanted.ts";

export class Turns {
  readonly #max: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether it is its turn, now or later. False where it is not wanted any more: then there is no turn to give back. */
  take(wanted: Wanted): boolean | Promise<boolean> {
    if (wanted.isTakenBack) return false;
    if (this.#taken < this.#max) {
      this.#taken++;
      return true;
    }
    return new Promise((give) => {
      const go = (): void => give(true);
      this.#waiting.add(go);
      wanted.onTakenBack(() => {
        if (this.#waiting.delete(go)) give(false);
      });
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
