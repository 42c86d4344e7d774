// A task is killed with its process at any step of its life: no step that was acknowledged is lost, none is doubled, and each
// has exactly its entry in the log.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/core/ports/stores/task-store.ts";
import { openState } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { digest } from "./entries.ts";
import { keptValue } from "./inspect.ts";

const rounds = sizeFor(6, 60);
const folders: string[] = [];
let program: string;
beforeAll(async () => {
  program = await writer();
});
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

/** What the store has, beside what the process said before it was killed. */
async function problemsIn(folder: string, said: readonly string[]): Promise<readonly string[]> {
  const state = keptValue(openState(folder, { digest, program: root }));
  const problems: string[] = [];
  try {
    const last = new Map<string, { step: number; task: Task }>();
    for (const line of said) {
      const [, id = "", step = "", body = ""] = /^kept (\S+) (\d+) (.*)$/.exec(line) ?? [];
      if (id !== "") last.set(id, { step: Number(step), task: JSON.parse(body) as Task });
    }
    const log = keptValue(await state.ledger.log({ count: 10_000 })).map(({ entry }) => entry);
    for (const [id, { step, task }] of last) {
      const kept = keptValue(await state.tasks.get(id));
      const entries = log.filter((entry) => entry.id.startsWith(`${id}-`));
      if (entries.length < step + 1) problems.push(`lost: ${id} has ${entries.length} entries of ${step + 1}`);
      // The step after the last acknowledged one may be in the store, and no other.
      if (entries.length > step + 2) problems.push(`doubled: ${id}`);
      const isNext = entries.length === step + 2;
      if (kept === null) problems.push(`lost: ${id}`);
      else if (!isNext && !isDeepStrictEqual(kept, task)) problems.push(`lost: ${id} is ${kept.state}`);
      else if (!entries.some(({ outcome }) => outcome === `task ${kept.state}`)) problems.push(`no entry: ${id}`);
    }
  } finally {
    state.close();
  }
  return problems;
}

function newFolder(): string {
  const folder = ownFolder();
  folders.push(folder);
  return join(folder, "state");
}

test(`${rounds} kills: every acknowledged step of every task is there once`, async () => {
  const moments = fc.sample(fc.tuple(fc.noBias(fc.nat(40)), fc.noBias(fc.nat(5000))), rounds);
  for (const [round, [lines, microseconds]] of moments.entries()) {
    const folder = newFolder();
    const running = start(program, folder, { scene: "tasks", name: `t${round}`, count: 1000 });
    await running.until(1 + lines);
    await pause(microseconds / 1000, "it is killed at a random moment");
    running.kill();
    const { said, errors } = await running.ended;
    expect(errors).toBe("");
    expect(said.length).toBeGreaterThan(lines);
    expect(await problemsIn(folder, said), `killed after ${lines} lines and ${microseconds} µs`).toEqual([]);
  }
}, 120_000);

test("a store that acknowledges a step before it is durable is noticed: this test can fail", async () => {
  const folder = newFolder();
  const running = start(program, folder, { scene: "tasks", name: "hasty", count: 100, isHasty: true });
  await running.until(1000);
  running.kill();
  const { said } = await running.ended;
  expect((await problemsIn(folder, said)).filter((one) => one.startsWith("lost: ")).length).toBeGreaterThan(0);
});
