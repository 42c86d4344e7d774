import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { record, scout } from "../../../test/trust/project.ts";
import type { Agent } from "./agent.ts";
import { differenceOf } from "./difference.ts";

function agent(...grants: readonly string[]): Agent {
  return scout({ agent: record(`capabilities: ${JSON.stringify(grants)}`) }, null).agent;
}

function widenings(before: readonly string[], after: readonly string[]): readonly string[] {
  return differenceOf(agent(...before), agent(...after), []).widened.map(({ because }) => because);
}

const M = "model.use{providers=[anthropic],models=[x],";

describe("more budget is a widening", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    ["the same grant", ["memory.read{calls=3}"], ["memory.read{calls=3}"], []],
    ["a smaller number", ["memory.read{calls=3}"], ["memory.read{calls=2}"], []],
    ["a larger number", ["memory.read{calls=3}"], ["memory.read{calls=4}"], ["budget"]],
    ["no number", ["memory.read{calls=3}"], ["memory.read"], ["budget"]],
    [
      "a second, narrower grant",
      ["memory.read{calls=3}"],
      ["memory.read{calls=3}", "memory.read{keys=[a],calls=1}"],
      ["budget"],
    ],
    ["the same grant twice", ["memory.read{calls=3}"], ["memory.read{calls=3}", "memory.read{calls=3}"], ["budget"]],
    [
      "a budget divided among two grants",
      ["memory.read{keys=[a,b],calls=5}"],
      ["memory.read{keys=[a],calls=2}", "memory.read{keys=[b],calls=3}"],
      [],
    ],
    [
      "a budget divided between an existing grant and a new one",
      ["memory.read{keys=[a,b],calls=5}"],
      ["memory.read{keys=[a,b],calls=3}", "memory.read{keys=[a],calls=2}"],
      ["budget"],
    ],
    [
      "a budget divided into more than there was",
      ["memory.read{keys=[a,b],calls=5}"],
      ["memory.read{keys=[a],calls=3}", "memory.read{keys=[b],calls=3}"],
      ["budget"],
    ],
    [
      "two grants joined to the smaller budget",
      ["memory.read{keys=[a],calls=5}", "memory.read{keys=[b],calls=5}"],
      ["memory.read{keys=[a,b],calls=5}"],
      [],
    ],
    [
      "two grants joined, and one of them besides",
      ["memory.read{keys=[a],calls=5}", "memory.read{keys=[b],calls=5}"],
      ["memory.read{keys=[a,b],calls=5}", "memory.read{keys=[a],calls=1}"],
      ["budget"],
    ],
    ["a counted grant beside an unlimited one", ["memory.read"], ["memory.read", "memory.read{keys=[a],calls=1}"], []],
    ["fewer tokens", [`${M}tokens=9}`], [`${M}tokens=8}`], []],
    ["more tokens", [`${M}tokens=9}`], [`${M}tokens=10}`], ["budget"]],
    ["more money", [`${M}money=1}`], [`${M}money=1.01}`], ["budget"]],
    ["tokens in place of calls", [`${M}calls=9}`], [`${M}tokens=9}`], ["budget"]],
    ["calls in place of tokens", [`${M}tokens=9}`], [`${M}calls=1}`], ["budget"]],
    ["money in place of tokens", [`${M}tokens=9}`], [`${M}money=1}`], ["budget"]],
    ["money besides tokens", [`${M}tokens=9}`], [`${M}tokens=9,money=1}`], []],
    ["tokens without money", [`${M}tokens=9,money=1}`], [`${M}tokens=9}`], ["budget"]],
    ["the same tokens twice", [`${M}tokens=9}`], [`${M}tokens=9}`, `${M}tokens=9}`], ["budget"]],
    ["tokens for each user", [`${M}tokens=9}`], [`${M}tokens=9,per=user}`], ["budget"]],
    [
      "tokens divided among two models",
      ["model.use{providers=[a],models=[x,y],tokens=9}"],
      ["model.use{providers=[a],models=[x],tokens=4}", "model.use{providers=[a],models=[y],tokens=5}"],
      [],
    ],
    [
      "tokens divided into more than there were",
      ["model.use{providers=[a],models=[x,y],tokens=9}"],
      ["model.use{providers=[a],models=[x],tokens=5}", "model.use{providers=[a],models=[y],tokens=5}"],
      ["budget"],
    ],
    ["a slower rate", ["memory.read{rate=600/hour}"], ["memory.read{rate=10/min}"], []],
    ["the same average over longer", ["memory.read{rate=10/min}"], ["memory.read{rate=600/hour}"], ["budget"]],
    [
      "a second rate",
      ["memory.read{rate=10/min}"],
      ["memory.read{rate=10/min}", "memory.read{keys=[a],rate=1/min}"],
      ["budget"],
    ],
    ["a rate in place of a number", ["memory.read{calls=5}"], ["memory.read{rate=1/day}"], ["budget"]],
    ["a number that the rate allows at once", ["memory.read{rate=5/min}"], ["memory.read{calls=5}"], []],
  ];
  test.each(rows)("%s", (_title, before, after, expected) => {
    expect(widenings(before, after)).toEqual(expected);
  });
});

/** The most calls of each key that the counted grants allow: the sum over the grants that cover it. */
function most(lines: readonly Line[], keys: readonly string[]): number {
  return lines.filter((line) => line.keys.some((key) => keys.includes(key))).reduce((sum, { calls }) => sum + calls, 0);
}

interface Line {
  readonly keys: readonly string[];
  readonly calls: number;
}

test("whatever is not called a widening never allows more calls of any set of keys", () => {
  const line: fc.Arbitrary<Line> = fc.record({
    keys: fc.subarray(["a", "b", "c"], { minLength: 1 }),
    calls: fc.integer({ min: 1, max: 4 }),
  });
  const lines = fc.array(line, { minLength: 1, maxLength: 4 });
  const text = (all: readonly Line[]): readonly string[] =>
    all.map(({ keys, calls }) => `memory.read{keys=[${keys.join(",")}],calls=${calls}}`);
  const sets = [["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]];
  let narrowings = 0;
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      if (widenings(text(before), text(after)).length > 0) return;
      narrowings++;
      for (const keys of sets) expect(most(after, keys)).toBeLessThanOrEqual(most(before, keys));
    }),
    { numRuns: 600 },
  );
  expect(narrowings).toBeGreaterThan(10);
});
