// Positions inside quoted specs: however a character is written, the span of a word is where that word is.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Diagnostics } from "../diagnostic.ts";
import { READING } from "../testing/notation.ts";
import { readCompact } from "./compact.ts";
import { placesOf, placesWithin, spanWithin } from "./compact-places.ts";

const before = 10;

/** The text under the span of the part, or the kind of an answer that has no parts. */
function under(text: string, written: string, part: string): string {
  const span = { source: "a.md", start: before, end: before + written.length };
  const places = placesOf(text, span, written);
  if (places.kind === "unknown") return "the whole";
  const start = text.indexOf(part);
  const found = spanWithin(span, places, start, start + part.length);
  return written.slice(found.start - before, found.end - before);
}

describe("a part of a text is where it is written", () => {
  const rows: readonly (readonly [title: string, text: string, written: string, part: string, under: string])[] = [
    ["plain", "a{b=[c]}", "a{b=[c]}", "c", "c"],
    ["in double quotes", "a{b=[c]}", '"a{b=[c]}"', "c", "c"],
    ["in single quotes", "a{b=[c]}", "'a{b=[c]}'", "c", "c"],
    ["after a doubled quote", "a'b c", "'a''b c'", "c", "c"],
    ["a doubled quote itself", "a'b", "'a''b'", "'", "''"],
    ["behind escapes", 'a["x"],c', '"a[\\"x\\"],c"', "c", "c"],
    ["escapes themselves", 'a["x"],c', '"a[\\"x\\"],c"', '"x"', '\\"x\\"'],
    ["numbered escapes", "aéb😀c", '"a\\xe9b\\U0001f600c"', "c", "c"],
    ["two halves", "a😀c", '"a\\ud83d\\ude00c"', "😀", "\\ud83d\\ude00"],
    ["named escapes", "a\u0085\u00a0\u2028\u2029\t c", '"a\\N\\_\\L\\P\\\t\\ c"', "c", "c"],
    ["the end", "abc", '"abc"', "abc", "abc"],
    ["folded lines", "ab cd", "ab\n  cd", "cd", "cd"],
    ["folded lines in quotes", "ab cd", '"ab \n  cd"', "cd", "cd"],
    ["folded lines in single quotes", "it's a\nb", "'it''s\r\n  a\n\n  b'", "b", "b"],
    ["an escaped line end", "abcd", '"ab\\\n  cd"', "cd", "cd"],
    ["the text before an escaped line end", "abcd", '"ab\\\n  cd"', "ab", "ab"],
    ["block text", "ab\ncd\n", "|\n  ab\n  cd\n", "cd", "cd"],
    ["folded block text without its end", "ab cd", ">- # two\n  ab\n  cd\n", "cd", "cd"],
    ["block text of other lines", "ab\nce\n", "|\n  ab\n  cd\n", "ce", "the whole"],
    ["another parser's quotes", "a''b", "'a''b'", "b", "the whole"],
    ["three quotes", "ab", "'''ab'''", "b", "the whole"],
    ["an unknown escape", "aqb", '"a\\qb"', "b", "the whole"],
    ["one quote alone", "'", "'", "'", "'"],
    ["quotes that do not close", "ab", "'ab", "b", "the whole"],
    ["another text", "ab", "'ac'", "b", "the whole"],
  ];
  test.each(rows)("%s", (_title, text, written, part, expected) => {
    expect(under(text, written, part)).toBe(expected);
  });
});

test("a part of a part is where it was", () => {
  const span = { source: "a.md", start: before, end: before + 7 };
  const places = placesWithin(placesOf("a b'c", span, "'a b''c'"), 2, 5);
  expect(spanWithin(span, places, 2, 3)).toEqual({ source: "a.md", start: before + 6, end: before + 7 });
});

/** One of the ways to write each character between double quotes. */
function doubled(text: string, ways: readonly number[]): string {
  const written = [...text].map((character, at) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = (length: number): string => code.toString(16).padStart(length, "0");
    const plain = character === '"' || character === "\\" ? `\\${character}` : character;
    const rows = [
      plain,
      plain,
      `\\U${hex(8)}`,
      code < 0x10000 ? `\\u${hex(4)}` : plain,
      code < 256 ? `\\x${hex(2)}` : plain,
    ];
    return rows[(ways[at % Math.max(1, ways.length)] ?? 0) % rows.length];
  });
  return `"${written.join("")}"`;
}

test("for all specs in quotes: the text under a diagnostic is the wrong word", () => {
  const value = fc.constantFrom("a.example", '"b c"', '"it\'s"', '"é😀"', '"x\\"y"');
  const specs = fc.array(value, { maxLength: 3 }).map((values) => `net.get{ask, hosst=[${values.join(", ")}]}`);
  fc.assert(
    fc.property(specs, fc.array(fc.nat(4), { maxLength: 20 }), fc.boolean(), (text, ways, isSingle) => {
      const written = isSingle ? `'${text.replaceAll("'", "''")}'` : doubled(text, ways);
      const span = { source: "a.md", start: before, end: before + written.length };
      const diagnostics = new Diagnostics();
      const places = placesOf(text, span, written);
      readCompact(text, { reading: READING, diagnostics, span, root: null, places });
      const [first] = diagnostics.list;
      expect(first?.code).toBe("unknown_key");
      const found = written.slice((first?.span.start ?? 0) - before, (first?.span.end ?? 0) - before);
      expect(isSingle ? found : JSON.parse(`"${found.replace(/\\x/g, "\\u00").replace(/\\U0000/g, "\\u")}"`)).toBe(
        "hosst",
      );
    }),
  );
});
