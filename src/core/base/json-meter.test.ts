// The count of JSON values: never less than what a parser makes of the text, however the bytes are split.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "./json.ts";
import { JsonMeter } from "./json-meter.ts";

function valuesIn(value: Json): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + valuesIn(one as Json), 1);
}

/** The smallest limit that accepts the text. */
function countOf(text: string, cut: number): number {
  const bytes = new TextEncoder().encode(text);
  for (let most = 0; ; most++) {
    const meter = new JsonMeter(most);
    let isWithin = true;
    for (let at = 0; at < bytes.length; at += cut) isWithin = meter.take(bytes.subarray(at, at + cut));
    if (isWithin) return most;
  }
}

test("no text has more values than were counted, and not half as many", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 9 }), (value, cut) => {
      const values = valuesIn(value as Json);
      const counted = countOf(JSON.stringify(value), cut);
      expect(counted).toBeGreaterThanOrEqual(values);
      expect(counted).toBeLessThanOrEqual(values * 2);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['"a,b[{"', 1],
  ['"\\",[{\\\\"', 1],
  ["[1,2]", 3],
  ["[[],[]]", 5],
  ['{"a":1,"b":"]"}', 3],
])("%s", (text, count) => {
  expect([1, 2, 50].map((cut) => countOf(text, cut))).toEqual([count, count, count]);
});
