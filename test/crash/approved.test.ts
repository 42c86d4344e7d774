// A process is killed between the use of an approval and the commit of the directive that was approved: what was directed is stored
// with the end of its task or not at all, and then the task still holds it.
import { expect, test } from "vitest";
import { sizeFor } from "../house/long.ts";
import { keptValue } from "./inspect.ts";
import { Kills, type Problems } from "./kills.ts";

const rounds = sizeFor(6, 60);
const hastyMax = 40;

const problemsIn: Problems = async (state, _, said) => {
  const problems: string[] = [];
  const steps = new Map<string, Set<string>>();
  for (const line of said) {
    const [, id = "", step = ""] = /^kept (\S+) (used|done)$/.exec(line) ?? [];
    if (id !== "") steps.set(id, new Set([...(steps.get(id) ?? []), step]));
  }
  for (const [id, said] of steps) {
    const [task, made, approval] = [
      keptValue(await state.tasks.get(id)),
      keptValue(await state.tasks.get(`${id}-made`)),
      keptValue(await state.approvals.get(`${id}-approval`)),
    ];
    const isUsed = approval?.state !== "approved";
    const isDone = task?.state === "done";
    if (said.has("used") && !isUsed) problems.push(`lost: the use of the approval of ${id}`);
    if (said.has("done") && !isDone) problems.push(`lost: the end of ${id}`);
    if (isDone !== (made !== null)) problems.push(`apart: ${id} is ${task?.state}, its directive ${made?.state}`);
    if (!isDone && task?.held === undefined) problems.push(`lost: what ${id} directed`);
    if (isDone && !isUsed) problems.push(`without an approval: ${id}`);
  }
  return problems;
};
const kills = new Kills("approved", problemsIn);

test(`${rounds} kills: an approved directive is stored with the end of its task, or still held by it`, async () => {
  await kills.atRandom(rounds, 5000);
}, 120_000);

test("a store that acknowledges a step before it is durable is noticed: this test can fail", async () => {
  const found: string[] = [];
  for (let round = 0; round < hastyMax && found.length === 0; round++) found.push(...(await kills.hasty(5000, 2)));
  expect(found.filter((one) => one.startsWith("lost: "))).not.toEqual([]);
}, 120_000);
