// Entries that are in no index yet are found too, and other requests are served during the search.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { State } from "./state.ts";
import { entryOf, type TemporaryState, temporaryState, value } from "./testing/state.ts";

let place: TemporaryState;
let state: State;
beforeEach(() => {
  // The indexes are filled as time passes: here it does not.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  place = temporaryState();
  state = place.opened();
});
afterEach(() => {
  vi.useRealTimers();
  place.remove();
});

const count = 9_000;

async function filled(): Promise<void> {
  for (let at = 0; at < count; at += 1_000)
    value(
      await state.ledger.append(
        Array.from({ length: 1_000 }, (_, one): LogEntry => {
          const number = at + one;
          const outcome = number % 1_000 === 7 ? "deny" : "allow";
          const more = number === 11 ? { said: 'Ünd "at":5,"id":"id-12"' } : {};
          return entryOf({ id: `id-${number}`, at: number, of: number === 8_999 ? "id-3" : null, outcome, more });
        }),
      ),
    );
}

/** How many other requests were served before it. */
async function turnsOf(question: Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  void question.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  return turns;
}

it("finds what it would find in the index", async () => {
  await filled();
  const { ledger } = state;
  const ids = async (query: Parameters<typeof ledger.log>[0]): Promise<readonly string[]> =>
    value(await ledger.log(query)).map(({ entry }) => entry.id);
  expect(await ids({ count: 3, outcome: "deny" })).toEqual(["id-8007", "id-7007", "id-6007"]);
  expect(await ids({ count: 9, since: 100, until: 103 })).toEqual(["id-102", "id-101", "id-100"]);
  expect(await ids({ count: 2, after: 5, before: 9 })).toEqual(["id-5", "id-6"]);
  expect(await ids({ count: 9, text: "ünd" })).toEqual(["id-11"]);
  expect(value(await ledger.entry("id-12"))?.entry.place).toBe(13);
  expect(value(await ledger.entry("id-3"))).toMatchObject({ entry: { place: 4 }, more: [{ place: 9_000 }] });
  expect(value(await ledger.entry("id-899"))?.entry.place).toBe(900);
  expect([
    value(await ledger.entry("id-")),
    value(await ledger.entry("id-9000")),
    value(await ledger.entry("")),
  ]).toEqual([null, null, null]);
});

it("does not block other requests", async () => {
  await filled();
  const { ledger } = state;
  expect(await turnsOf(ledger.log({ count: 9, agent: "missing" }))).toBeGreaterThan(10);
  expect(await turnsOf(ledger.log({ count: 9, until: 0 }))).toBeGreaterThan(10);
  expect(await turnsOf(ledger.log({ count: 9, text: "ñandú" }))).toBeGreaterThan(10);
  expect(await turnsOf(ledger.entry("no such id"))).toBeGreaterThan(2);
  // Two ids with this prefix are enough to know that it is ambiguous.
  expect(await turnsOf(ledger.entry("id"))).toBeLessThan(8);
});
