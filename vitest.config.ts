// Where tests are and how many files run at once.
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import type { TestProjectInlineConfiguration, ViteUserConfig } from "vitest/config";
import { HouseReporter } from "./test/house/reporter.ts";

/** One seed for every random case of a run, printed by the reporter; `AMBIT_SEED=<number>` repeats a run's cases. */
const seed = process.env["AMBIT_SEED"] ?? String(randomInt(1_000_000_000));
if (!/^\d{1,9}$/.test(seed)) throw new Error(`AMBIT_SEED is a number of at most nine digits, not ${seed}`);

// Node reads these certificates at each start, which takes twice as long as the start itself. Tests connect to loopback alone.
delete process.env["NODE_EXTRA_CA_CERTS"];

/** Two for each core: about half the time of a test with real processes is spent waiting for them (decision 0082). */
const workers = Math.min(16, 2 * availableParallelism());

/** Tests beside the code. They leave nothing behind, so many files share one process. */
const UNIT = ["src/**/*.test.ts"];
/** Tests of rules alone share a process as well. Not the laws: each file of them counts its own cases. */
const RULES = ["test/{edits,forge,fuzz,tidy,vectors}/**/*.test.ts"];
/** Tests that need large programs of others: `npm run test:clients`, `test:engines` and `test:installs` set this variable. */
const EXTRA = ["clients", "engines", "installs"].filter((name) => name !== process.env["AMBIT_EXTRA_TESTS"]);
const LEFT_OUT = ["**/node_modules/**", ...EXTRA.map((name) => `test/${name}/**`)];

/** A unit test that needs longer, a property with many cases say, names its own timeout. */
const unitTestMillisecondsMax = 10_000;
/** For real processes, sandboxes and databases on a busy machine; a test that gets here has failed. */
const testMillisecondsMax = 180_000;

function project(
  name: string,
  include: string[],
  options: { readonly exclude?: string[]; readonly isolate: boolean; readonly testTimeout?: number },
): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, ...options, exclude: [...LEFT_OUT, ...(options.exclude ?? [])] } };
}

const config: ViteUserConfig = {
  test: {
    projects: [
      project("rooms", UNIT, { isolate: false, testTimeout: unitTestMillisecondsMax }),
      project("rules", RULES, { isolate: false }),
      project("house", ["test/**/*.test.ts"], { isolate: true, exclude: RULES }),
    ],
    // Texts with times are compared in one zone; a test that is about zones sets its own.
    env: { AMBIT_SEED: seed, TZ: "UTC" },
    reporters: ["default", new HouseReporter(seed)],
    setupFiles: ["test/house/seed.ts", "test/house/leave-nothing.ts"],
    pool: "forks",
    maxWorkers: workers,
    testTimeout: testMillisecondsMax,
    hookTimeout: testMillisecondsMax,
  },
};

export default config;
