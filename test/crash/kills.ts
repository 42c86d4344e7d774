// A writing program that is killed at random moments of a scene, and what it said before: shared by the tests of single stores.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { openState, type State } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { pause } from "../house/pause.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { digest } from "./entries.ts";
import { keptValue } from "./inspect.ts";
import type { Orders } from "./orders.ts";

/** What a store lacks or has too much of, beside the lines that were acknowledged, one sentence each. */
export type Problems = (state: State, name: string, said: readonly string[]) => Promise<readonly string[]>;

const linesMax = 40;
const microsecondsMax = 5000;

export class Kills {
  readonly #scene: string;
  readonly #problems: Problems;
  readonly #folders: string[] = [];
  #program = "";

  /** Registers what prepares and removes it. */
  constructor(scene: string, problems: Problems) {
    this.#scene = scene;
    this.#problems = problems;
    beforeAll(async () => {
      this.#program = await writer();
    });
    afterAll(() => {
      for (const folder of this.#folders) removeFolder(folder);
    });
  }

  /** Kills at random moments; after each of them nothing is lost and nothing doubled. */
  async atRandom(rounds: number, count: number): Promise<void> {
    const moments = fc.sample(fc.tuple(fc.noBias(fc.nat(linesMax)), fc.noBias(fc.nat(microsecondsMax))), rounds);
    for (const [round, [lines, microseconds]] of moments.entries()) {
      const when = `killed after ${lines} lines and ${microseconds} µs`;
      expect(await this.#killed({ name: `n${round}`, count }, 1 + lines, microseconds), when).toEqual([]);
    }
  }

  /** Problems of a program that acknowledges before the store has it. */
  hasty(count: number, lines: number): Promise<readonly string[]> {
    return this.#killed({ name: "hasty", count, isHasty: true }, lines, 0);
  }

  async #killed(orders: Partial<Orders> & { readonly name: string }, lines: number, microseconds: number) {
    const own = ownFolder();
    this.#folders.push(own);
    const folder = join(own, "state");
    const running = start(this.#program, folder, { scene: this.#scene, ...orders });
    await running.until(lines);
    if (microseconds > 0) await pause(microseconds / 1000, "it is killed at a random moment");
    running.kill();
    const { said, errors } = await running.ended;
    expect(errors).toBe("");
    expect(said.length).toBeGreaterThanOrEqual(lines);
    const state = keptValue(openState(folder, { digest, program: root }));
    try {
      return await this.#problems(state, orders.name, said);
    } finally {
      state.close();
    }
  }
}
