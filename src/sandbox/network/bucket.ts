// A token bucket: a burst, and a rate per second after that.

export class Bucket {
  readonly #burst: number;
  readonly #perMillisecond: number;
  #level: number;
  #at: number;

  constructor(rate: { readonly burst: number; readonly perSecond: number }, now: number) {
    this.#burst = rate.burst;
    this.#perMillisecond = rate.perSecond / 1000;
    this.#level = rate.burst;
    this.#at = now;
  }

  take(now: number): boolean {
    // A clock that was set back adds nothing.
    this.#level = Math.min(this.#burst, this.#level + Math.max(0, now - this.#at) * this.#perMillisecond);
    this.#at = now;
    if (this.#level < 1) return false;
    this.#level--;
    return true;
  }
}
