// A random schedule from a seed: the same seed makes the same choices.

export class Schedule {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
  }

  /** From 0 up to, not including, `end`. */
  below(end: number): number {
    // xorshift32: good enough for choices, and never 0 unless seeded with 0.
    let next = this.#state || 1;
    next ^= next << 13;
    next ^= next >>> 17;
    next ^= next << 5;
    this.#state = next >>> 0;
    return this.#state % end;
  }

  pick<T>(all: readonly T[]): T {
    const one = all[this.below(all.length)];
    if (one === undefined) throw new RangeError("there is nothing to pick from");
    return one;
  }

  some<T>(all: readonly T[], count: number): readonly T[] {
    return Array.from({ length: count }, () => this.pick(all));
  }
}
