// Our own encoding of text against the platform's, over every kind of character and of mistake.
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, textOf } from "./utf8.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

test("text becomes the platform's bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { maxLength: 40 }), (units) => {
      const text = String.fromCharCode(...units);
      expect(bytesOf(text)).toEqual(new Uint8Array(encoder.encode(text)));
    }),
    { numRuns: 2000 },
  );
});

test("bytes become the platform's text, mistakes included", () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0x80, 0x9f, 0xa0, 0xbf, 0xbb));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), fc.array(byte, { maxLength: 24 }), (plain, odd) => {
      for (const bytes of [plain, Uint8Array.from(odd)]) expect(textOf(bytes)).toBe(decoder.decode(bytes));
    }),
    { numRuns: 5000 },
  );
});

test("long text keeps every character over the seams", () => {
  const text = "aé€😀".repeat(20_000);
  expect(textOf(bytesOf(text))).toBe(text);
});
