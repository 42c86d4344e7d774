// An event-loop turn ends before more data arrives, and not earlier.

import { expect, test } from "vitest";
import { InputTurns } from "./unchanged-files.ts";

test("work without an await of input is one event-loop turn", async () => {
  const stretch = new InputTurns();
  const first = stretch.now;
  expect(stretch.now).toBe(first);
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
  expect(stretch.now).toBe(first);
});

test("whatever arrives begins another", async () => {
  const stretch = new InputTurns();
  const seen = new Set<number>();
  for (let arrivals = 0; arrivals < 10; arrivals++) {
    seen.add(stretch.now);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen.size).toBe(10);
});
