// Texts that attack a reader: random, one edit away from a valid one, or expensive for their size.
import fc from "fast-check";
import { expect } from "vitest";

const awkward = [
  "\0",
  "\t",
  "\r",
  "\n",
  "\r\n",
  " ",
  "\uFEFF",
  "\u0085",
  "\u2028",
  "\u202E",
  "\u200B",
  "\uE000",
  "\uD800",
  "\uDC00",
  "а",
  "ａ",
  "😀",
  "__proto__",
];
const marks = [
  "-",
  "- ",
  ":",
  ": ",
  "?",
  "? ",
  ",",
  "[",
  "]",
  "{",
  "}",
  "#",
  " #",
  "&a",
  "*a",
  "!",
  "|",
  ">",
  "'",
  '"',
  "%",
  "@",
  "`",
  "---\n",
  "...\n",
  "<<",
  "=",
  ".",
  "[[",
  "]]",
  "'''",
  '"""',
  "\\",
  "\\u",
  "//",
  "/*",
  "~",
  "null",
  "true",
  "0",
  "1",
  "1e9",
  "0x",
  "a",
  "b",
  "  ",
];

/** Bytes, any text, words and marks of all three languages, and valid texts with a few characters changed. */
export function hostile(valid: readonly string[]): fc.Arbitrary<string> {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((list) => new TextDecoder().decode(list));
  const halves = fc.array(fc.nat(0xffff), { maxLength: 100 }).map((list) => String.fromCharCode(...list));
  const piece = fc.constantFrom(...marks, ...awkward, "\n", "\n", " ", " ");
  const pieces = fc.array(piece, { maxLength: 60 }).map((list) => list.join(""));
  const edit = fc.record({ at: fc.nat(10_000), remove: fc.nat(3), insert: piece });
  const changed = fc
    .tuple(fc.constantFrom(...valid), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([text, edits]) => edits.reduce((now, { at, remove, insert }) => change(now, at, remove, insert), text));
  return fc.oneof(bytes, fc.string({ unit: "binary", maxLength: 100 }), halves, pieces, changed);
}

function change(text: string, at: number, remove: number, insert: string): string {
  const start = at % (text.length + 1);
  return text.slice(0, start) + insert + text.slice(start + remove);
}

/** Texts that are expensive for their size. */
export function repeatedTexts(pieces: readonly string[], characters: number): readonly (readonly [string, string])[] {
  return pieces.map((piece) => [JSON.stringify(piece), piece.repeat(Math.floor(characters / piece.length))]);
}

const millisecondsMax = 8_000;

/** CPU time of this process only, so that other load on the machine does not count. */
export function inTime<T>(work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const spent = process.cpuUsage(before);
  expect((spent.user + spent.system) / 1000).toBeLessThan(millisecondsMax);
  return result;
}
