// The quick reader and the strict one never differ, whatever somebody sends.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../authority/json.ts";
import { parseJson } from "../../notation/json-reader.ts";
import { readMessageJson } from "./quick-json.ts";

function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth);
}

function isFrozen(value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every((each) => isFrozen(each as Json));
}

/** Every key of its own, however it is called: a reader by name sees what a reader of the text sees. */
function spelled(value: Json): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each) ? Object.entries(each) : each,
  );
}

describe("a message's JSON", () => {
  test.each([
    '{"id":1,"ask":"call.commit","value":{"input":{"key":"notes/today"},"list":[1,2.5,true,null]}}',
    '{"a":1,"a":2}',
    '{"a":{"b":1,"b":1}}',
    '{"a":1,"a" :2}',
    '{"a":":","a":2}',
    '{"a":"b:c","d":"::"}',
    '[{"a":1},{"a":1},":"]',
    '{"":1}',
    '{"":1,"":1}',
    '{ "a" : 1 }',
    '{"a:b":1,"c":2}',
    '{"a\\"":1,"a\\"":1}',
    '{"__proto__":{"x":1}}',
    '{"constructor":1}',
    '{"2":1,"1":2}',
    '{"1":2,"2":1}',
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "1e+21",
    "1e400",
    "-0",
    "0.1",
    "1.0",
    "01",
    '"\\u0041"',
    '"\\u0000"',
    '"\\ud800"',
    '"line\\nand \\"quote\\" and \\\\ and \\/ and \\t"',
    '"\\\\u0041"',
    '"\\x"',
    '{"a":"\\u005f_proto__"}',
    '{"\\u005f_proto__":{"x":1}}',
    '{"a":1.00000000000000000001,"b":100e-2,"c":1E3}',
    '"a\u0000"',
    '"\ud800"',
    '"\ud83d\ude00"',
    '"\ue000"',
    '"\ue001 any"',
    '"größe 日本"',
    '"tab\there"',
    " 1",
    "1 ",
    "{}",
    "[]",
    "",
    "nul",
    '{"a":undefined}',
    '"open',
    nested(64, "[", "]"),
    nested(65, "[", "]"),
    nested(66, "[", "]"),
    `${'{"a":'.repeat(64)}1${"}".repeat(64)}`,
    `${'{"a":'.repeat(65)}1${"}".repeat(65)}`,
    `${'{"a":'.repeat(66)}1${"}".repeat(66)}`,
    nested(8000, "[", "]"),
    JSON.stringify("x".repeat(20_000)),
  ])("%s is read as strictly", (text) => {
    const [read, strict] = [readMessageJson(text), parseJson(text)];
    expect(read).toEqual(strict);
    expect(!read.ok || isFrozen(read.value)).toBe(true);
    if (read.ok && strict.ok) expect(spelled(read.value)).toBe(spelled(strict.value));
  });

  test("of any value, and of any text near it, is read as strictly", () => {
    const near = fc.tuple(
      fc.jsonValue({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom("", ",", '"', "0", "{", "\\", "\\u0041", "\\n", "1e9", "1e999", "}", ":", '"":1,', " "),
    );
    fc.assert(
      fc.property(near, ([value, at, put]) => {
        const text = JSON.stringify(value);
        const cut = at % (text.length + 1);
        for (const one of [text, text.slice(0, cut) + put + text.slice(cut)]) {
          const [read, strict] = [readMessageJson(one), parseJson(one)];
          expect(read).toEqual(strict);
          expect(!read.ok || isFrozen(read.value)).toBe(true);
          if (read.ok && strict.ok) expect(spelled(read.value)).toBe(spelled(strict.value));
        }
      }),
      { seed: 11, numRuns: 2000 },
    );
  });
});
