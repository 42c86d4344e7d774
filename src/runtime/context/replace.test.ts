// Exact replacements: each row is a text, its edits, and the result.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Edit, replaceAll } from "./replace.ts";

const plenty = 1_000_000;

function result(text: string, ...edits: readonly Edit[]): string {
  const replaced = replaceAll(text, edits, plenty);
  return replaced.ok ? replaced.text : `! ${replaced.message}`;
}

describe("replacing", () => {
  test.each<[string, readonly Edit[], string]>([
    ["one two", [{ old: "two", new: "2" }], "one 2"],
    ["one two", [{ old: "one ", new: "" }], "two"],
    ["a a a", [{ old: "a", new: "b", all: true }], "b b b"],
    ["aaa", [{ old: "aa", new: "b", all: true }], "ba"],
    ["a", [{ old: "a", new: "$&$1" }], "$&$1"],
    [
      "one two",
      [
        { old: "one", new: "two" },
        { old: "two two", new: "2" },
      ],
      "2",
    ],
    ["line\r\nnext", [{ old: "line\r\nnext", new: "x" }], "x"],
    ["\uFEFFa", [{ old: "a", new: "b" }], "\uFEFFb"],
  ])("%j with %j becomes %j", (text, edits, expected) => {
    expect(result(text, ...edits)).toBe(expected);
  });

  test.each<[string, readonly Edit[], RegExp]>([
    ["one", [{ old: "One", new: "1" }], /^! edit 1: `old` is not in the file; nothing was changed$/],
    ["a\nb\na", [{ old: "a", new: "b" }], /2 times \(lines 1, 3\): make it longer, or set `all`/],
    ["a", [{ old: "a", new: "a" }], /are the same/],
    ["a\r\nb", [{ old: "a\nb", new: "" }], /lines end in CRLF/],
    [
      "one two",
      [
        { old: "one", new: "1" },
        { old: "one", new: "1" },
      ],
      /^! edit 2: `old` is not in the file/,
    ],
    ["x\n".repeat(20), [{ old: "x", new: "y" }], /20 times \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\.\)/],
  ])("%j with %j is refused", (text, edits, expected) => {
    expect(result(text, ...edits)).toMatch(expected);
  });

  test("a result that would be too long is counted and not built", () => {
    const edits = [{ old: "a", new: "b".repeat(100_000), all: true }];
    expect(replaceAll("a".repeat(100_000), edits, plenty)).toMatchObject({ ok: false });
    expect(replaceAll("a".repeat(10), edits, plenty)).toMatchObject({ ok: true });
  });

  test("reverting a replacement restores the text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ minLength: 1, maxLength: 4 }), (text, old) => {
        const fresh = "\u0001fresh\u0002";
        fc.pre(text.includes(old) && old !== fresh && !text.includes("\u0001") && !text.includes("\u0002"));
        const there = replaceAll(text, [{ old, new: fresh, all: true }], plenty);
        const back = there.ok ? replaceAll(there.text, [{ old: fresh, new: old, all: true }], plenty) : there;
        expect(back).toMatchObject({ ok: true, text });
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
