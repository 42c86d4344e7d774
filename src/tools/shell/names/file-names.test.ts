// File-name patterns, as rules.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { namePatternCharactersMax } from "../language/limits.ts";
import { parseScript } from "../language/parse.ts";
import { choosesName, matchesName, patternText } from "./file-names.ts";

describe("a pattern of file names", () => {
  test.each<[string, string | null, string | null]>([
    ["*", "", null],
    ["*", "a", null],
    ["*.ts", "a.ts", "a.tsx"],
    ["a*b*c", "aXbYc", "aXbY"],
    ["a*b*c", "abbcbc", "abbcb"],
    ["a?c", "abc", "ac"],
    ["?", "é", "éé"],
    ["?", "😀", "ab"],
    ["[ab]c", "bc", "cc"],
    ["[a-c]", "b", "d"],
    ["[!a-c]", "d", "b"],
    ["[^a-c]", "d", "b"],
    ["[]a]", "]", "b"],
    ["[!]a]", "b", "]"],
    ["[a-]", "-", "b"],
    ["[c-a]x", null, "bx"],
    ["[[:digit:]]", "7", "x"],
    ["[![:digit:]]", "x", "7"],
    ["[[:nothing:]a]", "a", "n"],
    ["[a", "[a", "a"],
    ["\\*", "*", "a"],
    ["[\\]a]", "]", "b"],
    ["[\\!a]", "!", "b"],
    ["a/b", "a/b", "a"],
  ])("%j matches %j and not %j", (pattern, taken, left) => {
    if (taken !== null) expect(matchesName(pattern, taken)).toBe(true);
    if (left !== null) expect(matchesName(pattern, left)).toBe(false);
  });

  test("matches a hidden name only by its dot, and never the folder itself", () => {
    expect([choosesName("*", "a"), choosesName("*", ".a"), choosesName(".*", ".a")]).toEqual([true, false, true]);
    expect([choosesName("\\.*", ".a"), choosesName("[.]a", ".a")]).toEqual([true, false]);
    expect([choosesName(".*", "."), choosesName(".*", "..")]).toEqual([false, false]);
  });

  test("that is too long matches nothing", () => {
    expect(matchesName("*".repeat(namePatternCharactersMax), "a")).toBe(true);
    expect(matchesName("*".repeat(namePatternCharactersMax + 1), "a")).toBe(false);
  });

  test("from a word takes its quoted parts literally", () => {
    const parsed = parseScript("ls '[a]-'* [a'-'c] $x*");
    const words = parsed.ok ? (parsed.script[0]?.stages[0]?.words ?? []) : [];
    const [, pattern, bracket, unknown] = words.map(patternText);
    expect([pattern, bracket, unknown]).toEqual(["\\[a]-*", "[a\\-c]", null]);
    expect([matchesName(pattern ?? "", "[a]-b"), matchesName(pattern ?? "", "a-b")]).toEqual([true, false]);
    expect([matchesName(bracket ?? "", "-"), matchesName(bracket ?? "", "b")]).toEqual([true, false]);
  });

  test("agrees with the same pattern as a regular expression", () => {
    const unit = fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]");
    const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), name, (pattern, text) => {
        const expression = pattern.replaceAll("[!", "[^").replaceAll("?", ".").replaceAll("*", ".*");
        expect(matchesName(pattern, text)).toBe(new RegExp(`^${expression}$`, "s").test(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("with many stars is compared in a limited number of steps", () => {
    expect(matchesName("a*".repeat(500), `${"a".repeat(4000)}b`)).toBe(true);
    expect(matchesName(`${"a*".repeat(500)}c`, "a".repeat(4000))).toBe(false);
  });
});
