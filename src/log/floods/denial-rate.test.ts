// Different denials of one agent: a burst, a rate, and a count of all others.
import { expect, test } from "vitest";
import { DenialRate, denialBurstMax, denialRefillMilliseconds } from "./denial-rate.ts";

test("a burst is logged, then a steady rate, and the others are counted by code", () => {
  const rate = new DenialRate<string>();
  let written = 0;
  const hour = 3_600_000;
  for (let now = 0; now < hour; now += 10)
    if (rate.take("a", now % 20 === 0 ? "scope_violation" : "capability_absent", now, "first")) written++;
  expect(written).toBeGreaterThanOrEqual(denialBurstMax);
  expect(written).toBeLessThanOrEqual(denialBurstMax + hour / denialRefillMilliseconds + 1);
  const [unwritten, ...others] = rate.drain(Number.POSITIVE_INFINITY);
  expect(others).toEqual([]);
  expect(unwritten?.times).toBe(hour / 10 - written);
  expect(Object.keys(unwritten?.codes ?? {}).sort()).toEqual(["capability_absent", "scope_violation"]);
  expect(rate.drain(Number.POSITIVE_INFINITY)).toEqual([]);
});

test("one agent's flood costs another one nothing", () => {
  const rate = new DenialRate<null>();
  for (let at = 0; at < 10_000; at++) rate.take("a", "x", 0, null);
  expect(rate.take("b", "x", 0, null)).toBe(true);
});

test("more agents than are tracked are counted together, and none is lost", () => {
  const rate = new DenialRate<null>();
  let written = 0;
  for (let at = 0; at < 20_000; at++) if (rate.take(`agent ${at}`, "x", 0, null)) written++;
  expect(written + rate.drain(Number.POSITIVE_INFINITY).reduce((sum, { times }) => sum + times, 0)).toBe(20_000);
  expect(written).toBeLessThan(5_000);
});
