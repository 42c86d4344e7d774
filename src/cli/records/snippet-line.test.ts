// A search result line as it is printed: marked with and without colour, one line, nothing hidden.
import { describe, expect, test } from "vitest";
import { COLOURS, PLAIN } from "../terminal/paint.ts";
import { snippetLine } from "./snippet-line.ts";

const found = {
  line: 7,
  column: 3,
  text: "a word here",
  marks: [{ start: 2, end: 6 }],
  cutBefore: false,
  cutAfter: true,
};

describe("a search result line", () => {
  test("has its number, the mark and an ellipsis", () => {
    expect(snippetLine(found, PLAIN)).toBe("  7: a «word» here…");
    expect(snippetLine({ ...found, cutBefore: true, cutAfter: false }, PLAIN)).toBe("  7: …a «word» here");
  });

  test("is marked by colour if there is colour", () => {
    expect(snippetLine(found, COLOURS)).toContain("a \u001b[1m\u001b[33mword\u001b[39m\u001b[22m here");
  });

  test("hides nothing and stays one limited line", () => {
    const text = `a word \u001b[2J\u202e${"\u0007".repeat(150)}`;
    const printed = snippetLine({ ...found, text }, PLAIN);
    expect(printed).toContain("a «word» \\u{1b}[2J\\u{202e}\\u{7}");
    expect(printed.length).toBeLessThan(180);
    expect(printed).toMatch(/^[\P{C}]*…$/u);
  });
});
