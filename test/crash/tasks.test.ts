// A task is killed with its process at any step of its life: no step that was acknowledged is lost, none is doubled, and each
// has exactly its entry in the log.
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import type { Task } from "../../src/core/ports/stores/task-store.ts";
import { sizeFor } from "../house/long.ts";
import { keptValue } from "./inspect.ts";
import { Kills, type Problems } from "./kills.ts";

const rounds = sizeFor(6, 60);

const problemsIn: Problems = async (state, _, said) => {
  const problems: string[] = [];
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
  return problems;
};
const kills = new Kills("tasks", problemsIn);

test(`${rounds} kills: every acknowledged step of every task is there once`, async () => {
  await kills.atRandom(rounds, 1000);
}, 120_000);

test("a store that acknowledges a step before it is durable is noticed: this test can fail", async () => {
  const found = await kills.hasty(100, 1000);
  expect(found.filter((one) => one.startsWith("lost: ")).length).toBeGreaterThan(0);
});
