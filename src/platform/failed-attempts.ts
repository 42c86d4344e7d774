// Limits guessing: after a number of wrong answers in a row there is a delay, and one more answer after each delay.
import type { Clock } from "../core/ports/clock.ts";

export const wrongTriesMax = 5;
export const waitMilliseconds = 30_000;
const namesMax = 256;

interface Tries {
  count: number;
  until: number;
}

export class FailedAttempts {
  readonly #now: Clock;
  readonly #tries = new Map<string, Tries>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /**
   * Counts as wrong until `right` is called, so that parallel answers do not bypass the delay. Returns milliseconds to
   * wait, or zero.
   */
  begin(name: string): number {
    const now = this.#now();
    const tries = this.#tries.get(name) ?? { count: 0, until: Number.NEGATIVE_INFINITY };
    // A clock that was set back must not extend the delay.
    if (tries.until - now > waitMilliseconds) tries.until = now + waitMilliseconds;
    if (now < tries.until) return tries.until - now;
    tries.count++;
    if (tries.count >= wrongTriesMax) tries.until = now + waitMilliseconds;
    this.#tries.delete(name);
    this.#tries.set(name, tries);
    for (const oldest of this.#tries.keys()) {
      if (this.#tries.size <= namesMax) break;
      this.#tries.delete(oldest);
    }
    return 0;
  }

  right(name: string): void {
    this.#tries.delete(name);
  }
}
