// Whatever a value contains, its line has no terminal control characters, and parses back as the same value.
import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine } from "./json-line.ts";

test.each([
  ["C0", "\u0007\u001b[2J"],
  ["C1", "\u009b31m\u0085"],
  ["bidirectional", "\u202e\u2066\u2069\u200f"],
  ["line ends", "\u2028\u2029"],
  ["zero width", "\u200b\ufeff"],
  ["an unpaired surrogate", "\ud800"],
])("%s characters are escaped", (_, text) => {
  const line = jsonLine({ text });
  expect(line).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(line)).toEqual({ text });
});

test("any value parses back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(JSON.parse(jsonLine({ text }))).toEqual({ text });
      expect(jsonLine({ text })).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
