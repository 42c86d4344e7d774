// Prints the seed of a run, and on CI fails a run that skipped a test without a listed reason.
import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { allowedSkips, skipProblems } from "./skips.ts";

export class HouseReporter implements Reporter {
  readonly #seed: string;
  #root = "";
  #isSelection = false;

  constructor(seed: string) {
    this.#seed = seed;
  }

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
    // A run of selected titles reports all others as skipped.
    this.#isSelection = vitest.config.testNamePattern !== undefined;
    process.stdout.write(`random cases: AMBIT_SEED=${this.#seed}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const fileOf = ({ moduleId }: TestModule): string => relative(this.#root, moduleId);
    if (this.#isSelection || !process.env["CI"]) return;
    const skips = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].map(({ fullName }) => ({ file: fileOf(module), title: fullName })),
    );
    const problems = skipProblems(skips, modules.map(fileOf), allowedSkips);
    if (problems.length === 0) return;
    process.stderr.write(`${problems.join("\n")}\n`);
    process.exitCode = 1;
  }
}
