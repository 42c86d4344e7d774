import fc from "fast-check";
import { expect, test } from "vitest";
import { LeakCheck } from "./leak-check.ts";

const TEXTS = ["a-secret-text", "another-longer-secret-text"];

function isFound(bytes: Buffer, cuts: readonly number[]): boolean {
  const check = new LeakCheck(TEXTS);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((left, right) => left - right), bytes.length];
  return ends.some((end, at) => check.isIn(bytes.subarray(ends[at - 1] ?? 0, end)));
}

test("a text is found wherever the stream is cut", () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom(...TEXTS),
      fc.string(),
      fc.array(fc.nat(200), { maxLength: 40 }),
      (before, text, after, cuts) => {
        expect(isFound(Buffer.from(`${before}${text}${after}`), cuts)).toBe(true);
      },
    ),
  );
});

test("a secret without its last character is not found", () => {
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), fc.array(fc.nat(200), { maxLength: 40 }), (text, cuts) => {
      expect(isFound(Buffer.from(`xx${text.slice(0, -1)}.xx`), cuts)).toBe(false);
    }),
  );
});
