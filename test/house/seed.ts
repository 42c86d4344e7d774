// The seed of this run: vitest.config.ts chooses a new one for each run and prints it; AMBIT_SEED=<number> repeats a run's cases.
import fc from "fast-check";

const seed = Number(process.env["AMBIT_SEED"]);
if (!Number.isInteger(seed)) throw new Error("AMBIT_SEED is not set: tests run by vitest.config.ts");
fc.configureGlobal({ seed });

export function runSeed(): number {
  return seed;
}
