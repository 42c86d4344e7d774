import { describe, expect, it } from "vitest";
import { type Dialect, refusedCharacter } from "./characters.ts";

/** Every code point, and every lone surrogate. */
const all: readonly string[] = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code));

describe("the ranges are what Unicode calls control characters, surrogates and line ends", () => {
  const rows: readonly (readonly [Dialect, RegExp])[] = [
    [
      "written",
      /(?![\t\n\r])\p{Cc}|\r(?!\n)|[\p{Cs}\p{Zl}\p{Zp}\uE000\uE001\uFEFF\uFFFE\uFFFF\u202A-\u202E\u2066-\u2069]/u,
    ],
    ["data", /[\p{Cs}\uE000\uE001]/u],
  ];
  it.each(rows)("%s", (dialect, expected) => {
    const differing = all.filter(
      (character) => expected.test(character) !== (refusedCharacter(character, dialect) !== null),
    );
    expect(differing.map((character) => character.codePointAt(0))).toEqual([]);
    expect(all.filter((character) => expected.test(character)).length).toBeGreaterThan(2048);
  });

  it("a carriage return before a line end is none of them, and alone it is", () => {
    expect(refusedCharacter("a\r\nb", "written")).toBeNull();
    expect(refusedCharacter("a\rb", "written")).toMatchObject({ start: 1, end: 2 });
  });
});
