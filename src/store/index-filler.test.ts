// The indexes for searching are filled behind the writers' backs, and never fall far behind.
import { afterEach, beforeEach, expect, it } from "vitest";
import { factStepRows } from "./fact-filler.ts";
import { factsOf } from "./fact-index.ts";
import { factsBehindRowsMax } from "./index-filler.ts";
import type { State } from "./state.ts";
import { entryOf, type TemporaryState, temporaryState, value } from "./state-fixture.ts";
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

it("whoever writes does not fill them", async () => {
  await appended(3 * factStepRows);
  expect(facts()).toBe(0);
});

it("they are filled when nobody writes", { timeout: 60_000 }, async () => {
  const count = 3 * factStepRows + 5;
  await appended(count);
  const words = (): number => value(state.loop.readNow(wordsDone));
  // Bounded by the test's own time.
  while (facts() < 3 * factStepRows || words() < count) await new Promise((done) => setTimeout(done, 20));
  expect(facts()).toBe(3 * factStepRows);
});

it("further behind than they may be, they are filled although somebody writes", { timeout: 60_000 }, async () => {
  await appended(factsBehindRowsMax + 4 * factStepRows);
  // Never quiet for as long as anybody would have to be; bounded by the test's own time.
  while (facts() === 0) {
    await appended(1);
    await new Promise((done) => setTimeout(done, 10));
  }
  expect(facts()).toBeGreaterThanOrEqual(factStepRows);
});
