// A process that fires schedules is killed at any moment: each time that was acknowledged has its task and its entry, and no time
// has a task without the other two.
import { expect, test } from "vitest";
import { sizeFor } from "../house/long.ts";
import { keptValue } from "./inspect.ts";
import { Kills, type Problems } from "./kills.ts";

const rounds = sizeFor(5, 60);
const hastyMax = 40;

const problemsIn: Problems = async (state, id, said) => {
  const schedule = keptValue(await state.schedules.get(id));
  const tasks = keptValue(await state.tasks.list(null, ["queued"], 10_000));
  const log = keptValue(await state.ledger.log({ count: 10_000 })).map(({ entry }) => entry.id);
  const acknowledged = said.filter((line) => line.startsWith("kept ")).length;
  const fired = log.filter((one) => one.startsWith(`fired-${id}-`)).length;
  const counts = { schedule: schedule?.count, tasks: tasks.length, entries: fired };
  if (fired < acknowledged) return [`lost: ${acknowledged} acknowledged, ${fired} there`];
  return counts.schedule === fired && counts.tasks === fired && fired <= acknowledged + 1
    ? []
    : [`apart: ${JSON.stringify(counts)}, ${acknowledged} acknowledged`];
};
const kills = new Kills("schedules", problemsIn);

test(`${rounds} kills: each time has its task, once`, async () => {
  await kills.atRandom(rounds, 5000);
}, 120_000);

test("a store that acknowledges a task before it is durable is noticed: this test can fail", async () => {
  const found: string[] = [];
  for (let round = 0; round < hastyMax && found.length === 0; round++) found.push(...(await kills.hasty(5000, 3)));
  expect(found).not.toEqual([]);
}, 120_000);
