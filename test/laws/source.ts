// The source of random choices: a seeded stream for most cases, a list of numbers for cases that fast-check can shrink. Both
// drive the same generators, and zero is always the plainest choice.

export interface Source {
  /** A whole number from zero to `count` - 1. */
  below(count: number): number;
}

/** Mulberry32: small, fast, the same on every machine. */
export function seededSource(seed: number): Source {
  let state = seed >>> 0;
  return {
    below(count) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
    },
  };
}

/** Takes its choices from a list; when they run out, every choice is the plainest. */
export function listSource(choices: readonly number[]): Source {
  let at = 0;
  return { below: (count) => (choices[at++] ?? 0) % count };
}

export function oneOf<T>(source: Source, list: readonly T[]): T {
  return list[source.below(list.length)] as T;
}

export function chance(source: Source, percent: number): boolean {
  return source.below(100) >= 100 - percent;
}

export function several<T>(source: Source, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + source.below(most - least + 1) }, make);
}
