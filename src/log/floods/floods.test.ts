// Floods are counted, and the count is never lost, whatever the clock does and however many kinds there are.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../platform/digest.ts";
import { FloodCount, floodKey, floodKindsMax, floodWindowMilliseconds, floodWritesMax } from "./floods.ts";

describe("repeated denials", () => {
  test("are logged three times in ten seconds, then counted, and reported once", () => {
    const floods = new FloodCount<string>();
    const took = Array.from({ length: 6 }, (_, at) => floods.take("k", 100 + at, `entry ${at}`));
    expect(took).toEqual(["write", "write", "write", "counted", "counted", "counted"]);
    expect(floods.due(10_099)).toEqual([]);
    expect(floods.due(10_100)).toEqual([{ key: "k", times: 3, first: 100, about: "entry 0" }]);
    expect(floods.due(20_000)).toEqual([]);
    expect(floods.take("k", 20_000)).toBe("write");
  });

  test("begin a new window after the old one, whose count stays", () => {
    const floods = new FloodCount();
    for (let at = 0; at < 5; at++) floods.take("k", at);
    expect(floods.take("k", 10_000)).toBe("write");
    for (let at = 0; at < 3; at++) floods.take("k", 10_001);
    expect(floods.take("k", 30_000)).toBe("write");
    expect(floods.due(30_000)).toEqual([{ key: "k", times: 3, first: 0, about: null }]);
  });

  test("are returned at once when the counts are needed", () => {
    const floods = new FloodCount();
    for (let at = 0; at < 4; at++) floods.take("k", at);
    floods.take("other", 5);
    expect(floods.drain()).toEqual([{ key: "k", times: 1, first: 0, about: null }]);
    expect(floods.drain()).toEqual([]);
  });

  test("end their window if the clock was set back", () => {
    const floods = new FloodCount();
    for (let at = 0; at < 4; at++) floods.take("k", 1000);
    expect(floods.take("k", 5)).toBe("write");
    expect(floods.due(5)).toEqual([{ key: "k", times: 1, first: 1000, about: null }]);
  });

  test("of more kinds than are tracked are logged", () => {
    const floods = new FloodCount();
    for (let kind = 0; kind < floodKindsMax; kind++)
      for (let at = 0; at <= floodWritesMax; at++) floods.take(`k${kind}`, 0);
    for (let at = 0; at < 10; at++) expect(floods.take("one more", 1)).toBe("write");
    expect(floods.drain().length).toBe(floodKindsMax);
  });
});

test("logged and counted ones together are all that occurred, whatever happens", () => {
  const step = fc.record({
    key: fc.nat({ max: 2000 }),
    times: fc.nat({ max: 6 }),
    wait: fc.integer({ min: -floodWindowMilliseconds, max: 2 * floodWindowMilliseconds }),
    next: fc.constantFrom("nothing", "nothing", "nothing", "due", "drain"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.nat({ max: 3 }), (steps, keys) => {
      const floods = new FloodCount();
      let [now, taken, written, counted] = [50_000, 0, 0, 0];
      const add = (due: readonly { readonly times: number }[]): void => {
        for (const { times } of due) {
          expect(times).toBeGreaterThan(0);
          counted += times;
        }
      };
      for (const { key, times, wait, next } of steps) {
        now += wait;
        for (let at = 0; at < times; at++) {
          taken++;
          if (floods.take(`k${key % (keys + 1)}`, now) === "write") written++;
        }
        if (next === "due") add(floods.due(now));
        if (next === "drain") add(floods.drain());
      }
      add(floods.drain());
      expect(written + counted).toBe(taken);
    }),
    { numRuns: 300 },
  );
});

test("a kind is session, tool, code and requests, and never long", () => {
  const of = { session: "s", tool: "t", code: "c", requests: ["a", "b"] };
  expect(floodKey(sha256, of)).toBe(floodKey(sha256, { ...of }));
  for (const other of [
    { session: null },
    { tool: "u" },
    { code: "d" },
    { requests: ["a,b"] },
    { requests: ["b", "a"] },
  ])
    expect(floodKey(sha256, { ...of, ...other })).not.toBe(floodKey(sha256, of));
  expect(floodKey(sha256, { ...of, requests: ["x".repeat(100_000)] }).length).toBe(64);
});
