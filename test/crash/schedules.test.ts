// A process that fires schedules is killed at any moment: each time that was acknowledged has its task and its entry, and no time
// has a task without the other two.
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openState } from "../../src/store/state.ts";
import { root } from "../e2e/ambit.ts";
import { sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { ownFolder, removeFolder, start, writer } from "./child.ts";
import { digest } from "./entries.ts";
import { keptValue } from "./inspect.ts";

const rounds = sizeFor(5, 60);
const folders: string[] = [];
let program: string;
beforeAll(async () => {
  program = await writer();
});
afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

function newFolder(): string {
  const folder = ownFolder();
  folders.push(folder);
  return join(folder, "state");
}

/** What the store has, beside what the process said before it was killed. */
async function problemsIn(folder: string, id: string, said: readonly string[]): Promise<readonly string[]> {
  const state = keptValue(openState(folder, { digest, program: root }));
  try {
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
  } finally {
    state.close();
  }
}

test(`${rounds} kills: each time has its task, once`, async () => {
  const moments = fc.sample(fc.tuple(fc.noBias(fc.nat(40)), fc.noBias(fc.nat(5000))), rounds);
  for (const [round, [lines, microseconds]] of moments.entries()) {
    const folder = newFolder();
    const running = start(program, folder, { scene: "schedules", name: `h${round}`, count: 5000 });
    await running.until(1 + lines);
    await pause(microseconds / 1000, "it is killed at a random moment");
    running.kill();
    const { said, errors } = await running.ended;
    expect(errors).toBe("");
    expect(await problemsIn(folder, `h${round}`, said), `killed after ${lines} lines`).toEqual([]);
  }
}, 120_000);

test("a store that acknowledges a task before it is durable is noticed: this test can fail", async () => {
  const found: string[] = [];
  for (let round = 0; round < 40 && found.length === 0; round++) {
    const folder = newFolder();
    const running = start(program, folder, { scene: "schedules", name: "hasty", count: 5000, isHasty: true });
    await running.until(3);
    running.kill();
    const { said } = await running.ended;
    found.push(...(await problemsIn(folder, "hasty", said)));
  }
  expect(found).not.toEqual([]);
}, 120_000);
