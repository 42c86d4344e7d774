// The line shown for a search result: which one, how much of it, and where the words are in it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { place } from "../../core/notation/source.ts";
import { snippetOf } from "./search-snippet.ts";
import { fold, wordsOf } from "./words.ts";

const HEAD = "---\nclass: note\ntitle: Alpha beta\n---\n";

function shownOf(body: string, question: string, head = HEAD): string | null {
  const found = snippetOf({ name: "a.md", text: head + body }, head.length, wordsOf(question).list);
  if (found === null) return null;
  let text = "";
  let from = 0;
  for (const { start, end } of found.marks) {
    text += `${found.text.slice(from, start)}<${found.text.slice(start, end)}>`;
    from = end;
  }
  const rest = found.text.slice(from);
  return `${found.line}:${found.column} ${found.cutBefore ? "…" : ""}${text}${rest}${found.cutAfter ? "…" : ""}`;
}

describe("the line", () => {
  const rows: readonly (readonly [title: string, body: string, question: string, shown: string | null])[] = [
    ["the first that has the word", "x\nthe word here\nword", "word", "6:5 the <word> here"],
    ["a word with that beginning", "a wordy one", "WORD", "5:3 a <word>y one"],
    ["not a word that only contains it", "a sword\nword", "word", "6:1 <word>"],
    ["the line with more of the words", "red\nred and blue\nblue red", "blue red", "6:1 <red> and <blue>"],
    ["every occurrence", "one, one; onerous", "one", "5:1 <one>, <one>; <one>rous"],
    ["the body before the title", "then alpha", "alpha", "5:6 then <alpha>"],
    ["the title if the body has no match", "nothing", "alpha", "3:8 title: <Alpha> beta"],
    ["nothing for a word that is in no line", "nothing", "gamma", null],
    ["without its indentation", "    deep word  ", "word", "5:10 deep <word>"],
    ["with its control characters", "a\u001b[31m word", "word", "5:8 a\u001b[31m <word>"],
    ["in any letter case", "die STRASSE\r\ndie Straße", "straße", "5:5 die <STRASSE>"],
    ["the whole word where folding made it longer", "die Straßen", "strasse", "5:5 die <Straßen>"],
    ["columns count characters", "😀 word", "word", "5:3 😀 <word>"],
    ["text without spaces", "日本語です", "本語", "5:2 日<本><語>です"],
    ["the beginning of a long line", `word ${"x".repeat(200)}`, "word", `5:1 <word> ${"x".repeat(155)}…`],
    ["the middle of one", `${"x ".repeat(100)}word`, "word", `5:201 …${"x ".repeat(20)}<word>`],
    ["the line a carriage return ends", "x\rword\ry", "word", "6:1 <word>"],
  ];
  test.each(rows)("%s", (_title, body, question, shown) => {
    expect(shownOf(body, question)).toBe(shown);
  });
});

test("for all texts: a mark begins like a word of the query, has the right position, and is bounded", () => {
  const piece = fc.constantFrom(
    "alpha",
    "Alphabet",
    "beta",
    "ß",
    "é",
    "😀",
    "日本",
    " ",
    "-",
    "\n",
    "\r\n",
    "\t",
    "\u202e",
  );
  const texts = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(texts, texts, fc.subarray(["alpha", "be", "ss", "本"], { minLength: 1 }), (before, body, words) => {
      const head = `${before}\n`;
      const source = { name: "a.md", text: head + body };
      const found = snippetOf(source, head.length, words);
      if (found === null) return;
      expect(found.text.length).toBeLessThanOrEqual(160);
      expect(found.marks.length).toBeGreaterThan(0);
      for (const { start, end } of found.marks) {
        const marked = fold(found.text.slice(start, end));
        expect(words.some((word) => marked.startsWith(word) || word.startsWith(marked))).toBe(true);
      }
      const lines = source.text.split(/\r\n?|\n/);
      expect(lines[found.line - 1]).toContain(found.text);
      const [first] = found.marks;
      const at = source.text.indexOf(found.text);
      if (source.text.lastIndexOf(found.text) === at)
        expect(place(source, at + (first?.start ?? 0))).toEqual({ line: found.line, column: found.column });
    }),
  );
});

test("a match far down a very long record is found, and not shown", () => {
  expect(shownOf(`${"x\n".repeat(200_000)}word`, "word")).toBeNull();
  expect(shownOf(`${"x\n".repeat(100_000)}word`, "word")).toBe("100005:1 <word>");
});
