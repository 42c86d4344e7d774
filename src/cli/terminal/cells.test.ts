import { describe, expect, it } from "vitest";
import { visible } from "../../core/notation/visible.ts";
import { cellsOf, visibleText } from "./cells.ts";

/** Characters accepted without a lookup are those Unicode would accept. */
describe("plain text is shown unchanged, and everything else is looked up", () => {
  const all = Array.from({ length: 0x2100 }, (_, code) => String.fromCodePoint(code));
  it("by its kind", () => {
    for (const character of all) {
      const isHidden = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(character);
      expect(visibleText(character) === character, JSON.stringify(character)).toBe(!isHidden);
      const isInvisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u.test(character);
      expect(visible(character) === character, JSON.stringify(character)).toBe(!isInvisible);
    }
  });

  it.each([
    ["a", 1],
    ["a\u0301", 1],
    ["\u65e5", 2],
    ["\u202e", 8],
    ["~", 1],
    ["\u007f", 6],
  ])("%j takes %i columns", (text, columns) => {
    expect(cellsOf(text).columns).toBe(columns);
  });
});
