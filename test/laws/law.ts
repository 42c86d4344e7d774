// A law is a function over an implementation and one random case, so that a mutant can replace the core. Most cases run on the
// seed of the run; a smaller number runs under fast-check, which shrinks failures.
import fc from "fast-check";
import { isLong } from "../house/long.ts";
import { runSeed } from "../house/seed.ts";
import type { Implementation } from "./implementation.ts";
import { listSource, type Source, seededSource } from "./source.ts";

/** What is wrong with this case, or null. */
export type Law = (implementation: Implementation, source: Source) => string | null;

export const LONG: boolean = isLong;
const LONG_FACTOR = 20;

/** Cases each file of laws must reach in a normal run; fifty thousand and more altogether. */
export const QUOTAS = {
  order: 7_000,
  covers: 30_000,
  witness: 9_000,
  chain: 18_000,
  suggest: 6_000,
  bounds: 3_000,
} as const;

/** Time limit of one law in milliseconds; a long run has hours. */
export const LAW_TIMEOUT: number = LONG ? 7_200_000 : 180_000;

let reached = 0;

export function casesReached(): number {
  return reached;
}

export function casesWanted(file: keyof typeof QUOTAS): number {
  return QUOTAS[file] * (LONG ? LONG_FACTOR : 1);
}

export interface Broken {
  readonly seed: number;
  readonly what: string;
}

/** The first case that breaks the law, or null after `count` of them (twenty times as many in a long run). */
export function findViolation(
  law: Law,
  implementation: Implementation,
  count: number,
  seed: number = runSeed(),
): Broken | null {
  const all = count * (LONG ? LONG_FACTOR : 1);
  for (let at = 0; at < all; at++) {
    const what = law(implementation, seededSource(seed * 1_000_003 + at));
    reached++;
    if (what !== null) return { seed: seed * 1_000_003 + at, what };
  }
  return null;
}

/**
 * Whether some case among `count` tells the mutant from the core. Always the same cases, so that a mutant is caught in every run.
 */
export function caught(law: Law, mutant: Implementation, count: number, seed = 7): boolean {
  for (let at = 0; at < count; at++) if (law(mutant, seededSource(seed * 1_000_003 + at)) !== null) return true;
  return false;
}

/** The same law under fast-check: a failure is shrunk to the shortest list of choices that still fails. */
export function shrunk(law: Law, implementation: Implementation, runs = 150): string | null {
  const choices = fc.array(fc.nat(1 << 16), { maxLength: 200, size: "max" });
  const result = fc.check(
    fc.property(choices, (list) => {
      reached++;
      return law(implementation, listSource(list)) === null;
    }),
    { numRuns: runs },
  );
  if (!result.failed) return null;
  const list = result.counterexample?.[0] ?? [];
  return `${JSON.stringify(list)}: ${law(implementation, listSource(list)) ?? String(result.errorInstance)}`;
}

/** Values in a message: numbers of any size, and values that JSON cannot express. */
export function printValue(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (key === "verb" && typeof inner === "object" && inner !== null && "verb" in inner) return inner.verb;
    if (typeof inner === "bigint") return `${inner}n`;
    if (inner instanceof Map) return [...inner];
    return inner === undefined ? "undefined" : inner === Number.POSITIVE_INFINITY ? "infinity" : inner;
  });
}
