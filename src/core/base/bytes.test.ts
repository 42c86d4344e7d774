// UTF-8 and base64: malformed input, one spelling for each sequence of bytes, and long input.
import fc from "fast-check";
import { expect, test } from "vitest";
import { base64Bytes, base64Text, utf8Bytes, utf8Length, utf8Text } from "./bytes.ts";

test.each<[string, string, readonly number[]]>([
  ["ASCII", "a", [0x61]],
  ["two bytes", "é", [0xc3, 0xa9]],
  ["a surrogate pair", "😀", [0xf0, 0x9f, 0x98, 0x80]],
  ["a lone surrogate", "\ud800", [0xef, 0xbf, 0xbd]],
])("text to UTF-8: %s", (_, text, bytes) => {
  expect([...utf8Bytes(text)]).toEqual(bytes);
  expect(utf8Length(text)).toBe(bytes.length);
});

test.each<[string, readonly number[], string]>([
  ["an overlong form", [0xc0, 0x80], "\ufffd\ufffd"],
  ["a cut character", [0x61, 0xe2, 0x82], "a\ufffd"],
  ["an encoded surrogate", [0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"],
  ["a byte order mark", [0xef, 0xbb, 0xbf, 0x61], "a"],
])("UTF-8 to text: %s", (_, bytes, text) => expect(utf8Text(Uint8Array.from(bytes))).toBe(text));

test("base64 of any bytes is the standard spelling, and decodes to the same bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = base64Text(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(base64Bytes(text)).toEqual(Uint8Array.from(bytes));
    }),
  );
  const long = Uint8Array.from({ length: 1_000_001 }, (_, at) => (at * 7) & 255);
  expect(base64Text(long)).toBe(Buffer.from(long).toString("base64"));
});

test.each([
  ...["A", "AA", "AAA", "AB==", "AAB=", "AA=A", "====", "A===", "AA==AA==", "AAA\n", " AAA", "AA=\n", "AAAA=", "AA_-"],
  ...["AA~=", "é===", "AA AA"],
])("%j is not a base64 spelling", (text) => expect(base64Bytes(text)).toBeNull());
