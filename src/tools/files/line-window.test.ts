// Lines from chunks: the result does not depend on how the file is split.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineWindow } from "./line-window.ts";

function taken(text: string, cuts: readonly number[], offset: number, limit: number, bytesMax: number) {
  const bytes = Buffer.from(text);
  const window = new LineWindow(offset, limit, bytesMax);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const end = Math.min(Math.max(cut, from), bytes.length);
    if (!window.push(bytes.subarray(from, end))) break;
    from = end;
  }
  const { hasMore, isCut, passed } = window;
  return { text: Buffer.from(window.bytes).toString("utf8"), hasMore, isCut, passed };
}

describe("a window of lines", () => {
  test.each([
    ["a\nb\nc\n", 0, 10, 100, "a\nb\nc\n", false, 3],
    ["a\nb\nc", 0, 10, 100, "a\nb\nc", false, 3],
    ["a\nb\nc\n", 1, 1, 100, "b\n", true, 2],
    ["a\nb\nc\n", 2, 1, 100, "c\n", false, 3],
    ["a\nb\nc\n", 3, 1, 100, "", false, 3],
    ["a\nb\nc\n", 9, 1, 100, "", false, 3],
    ["", 0, 1, 100, "", false, 0],
    ["\n\n", 0, 5, 100, "\n\n", false, 2],
    ["ab\ncd\nef\n", 0, 10, 7, "ab\ncd\n", true, 2],
    ["ab\ncd\nef\n", 0, 10, 6, "ab\ncd\n", true, 2],
    ["ab\ncd\n", 0, 10, 6, "ab\ncd\n", false, 2],
  ])("%j from %i, %i lines, %i bytes: %j", (text, offset, limit, bytesMax, expected, hasMore, passed) => {
    expect(taken(text, [], offset, limit, bytesMax)).toEqual({ text: expected, hasMore, isCut: false, passed });
  });

  test("a first line that is too long is truncated and skipped", () => {
    expect(taken("abcdef\ng\n", [], 0, 10, 4)).toEqual({ text: "abcd", hasMore: true, isCut: true, passed: 1 });
    expect(taken("abcdef\ng\n", [], 1, 10, 4)).toEqual({ text: "g\n", hasMore: false, isCut: false, passed: 2 });
  });

  test("the result does not depend on where chunks are split", () => {
    const text = fc.array(fc.constantFrom("a", "bc", "\n", "\n\n", "defgh"), { maxLength: 40 });
    const cuts = fc.array(fc.nat(80), { maxLength: 6 });
    fc.assert(
      fc.property(
        text,
        cuts,
        fc.nat(8),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 30 }),
        (parts, at, offset, limit, most) => {
          const whole = parts.join("");
          const sorted = [...at].sort((left, right) => left - right);
          expect(taken(whole, sorted, offset, limit, most)).toEqual(taken(whole, [], offset, limit, most));
        },
      ),
      { seed: 7, numRuns: 2000 },
    );
  });

  test("read on from where it stopped, everything is read once", () => {
    const lines = fc.array(fc.stringMatching(/^[a-z]{0,6}$/), { maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 7, max: 20 }), (all, limit, most) => {
        const whole = all.map((line) => `${line}\n`).join("");
        let read = "";
        for (let offset = 0, rounds = 0; rounds < 100; rounds++) {
          const { text, hasMore, passed } = taken(whole, [], offset, limit, most);
          read += text;
          offset = passed;
          if (!hasMore) break;
        }
        expect(read).toBe(whole);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
