// The search indexes are filled asynchronously, and never fall far behind.
import { afterEach, beforeEach, expect, it } from "vitest";
import { pause } from "../../../test/house/pause.ts";
import { until } from "../../../test/house/until.ts";
import type { State } from "../state.ts";
import { entryOf, type TemporaryState, temporaryState, value } from "../testing/state.ts";
import { factsOf } from "./fact-index.ts";
import { FactFiller, factStepRows, factsBehindRowsMax } from "./index-filler.ts";
import { wordsDone } from "./word-index.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  place = temporaryState();
  state = place.opened();
});
afterEach(() => place.remove());

const appended = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1000)
    value(await state.ledger.append(Array.from({ length: Math.min(1000, count - at) }, () => entryOf())));
};
const facts = (): number => value(state.loop.readNow(factsOf));

it("a write does not fill the indexes", async () => {
  await appended(3 * factStepRows);
  expect(facts()).toBe(0);
});

it("the indexes are filled while there are no writes", { timeout: 60_000 }, async () => {
  const count = 3 * factStepRows + 5;
  await appended(count);
  const words = (): number => value(state.loop.readNow(wordsDone));
  await until(() => facts() >= 3 * factStepRows && words() >= count, "the indexes are filled");
  expect(facts()).toBe(3 * factStepRows);
});

it("the indexes are filled despite occasional writes", { timeout: 60_000 }, async () => {
  await appended(2 * factStepRows);
  // Never a quarter of a second without a commit; bounded by the timeout of the test.
  while (facts() < 2 * factStepRows) {
    await appended(1);
    await pause(100, "less than the idle time after which a step is made");
  }
});

it("beyond the allowed backlog the indexes are filled despite constant writes", { timeout: 60_000 }, async () => {
  await appended(factsBehindRowsMax + 4 * factStepRows);
  // Never quiet long enough for an idle step; bounded by the timeout of the test.
  while (facts() === 0) {
    await appended(1);
    await pause(1, "less than the idle time after which a step is made");
  }
  expect(facts()).toBeGreaterThanOrEqual(factStepRows);
});

it("a failing step loses nothing that others write in the same commit", async () => {
  await appended(2 * factStepRows);
  // The file was modified by another program: the step's own row exists already.
  const taken = "INSERT INTO span (last, first, earliest, latest) VALUES (?, 1, 0, 0)";
  value(await state.loop.write((connection) => connection.run(taken, factStepRows)));
  const filler = new FactFiller();
  const [before, step, after] = await Promise.all([
    state.ledger.append([entryOf({ id: "before" })]),
    state.loop.write((connection) => filler.step(connection)),
    state.ledger.append([entryOf({ id: "after" })]),
  ]);
  expect([value(before).place, value(step), value(after).place]).toEqual([
    2 * factStepRows + 1,
    false,
    2 * factStepRows + 2,
  ]);
  expect(facts()).toBe(0);
  expect(value(await state.chain.head()).place).toBe(2 * factStepRows + 2);
  for (const id of ["before", "after"]) expect(value(await state.ledger.entry(id))?.entry.entry.id).toBe(id);
});

it("has every entry, also of those that were written in the same commit", async () => {
  await appended(factStepRows - 1);
  const filler = new FactFiller();
  const [, step] = await Promise.all([
    state.ledger.append([entryOf({ id: "same" })]),
    state.loop.write((connection) => filler.step(connection)),
  ]);
  expect([value(step), facts()]).toEqual([false, 0]);
  value(await state.loop.write((connection) => filler.step(connection)));
  expect(facts()).toBe(factStepRows);
  expect(value(await state.ledger.entry("same"))?.entry.place).toBe(factStepRows);
});
