// Paths are absolute and lexically normal; a star is one segment, two are any number, and protected paths must be named.
import { describe, expect, test } from "vitest";
import { type Segments, sequenceMatches } from "../patterns/sequence.ts";
import { type PathSettings, parsePath, parsePathPatterns, parseRoot, pathPatternText, pathText } from "./path.ts";

const PATH_SETTINGS: PathSettings = {
  home: ["home", "u"],
  base: ["work"],
  protectedPaths: [
    ["home", "u", ".ssh"],
    ["home", "u", ".config", "ambit"],
  ],
};
const NOWHERE: PathSettings = { home: null, base: null, protectedPaths: [] };

function value(text: string): Segments {
  const result = parsePath(text, PATH_SETTINGS);
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

function covers(pattern: string, path: string): boolean {
  const result = parsePathPatterns(pattern, [], PATH_SETTINGS);
  if (!result.ok) throw new Error(result.message);
  return result.value.some((one) => sequenceMatches(one, value(path)));
}

describe("a pattern covers", () => {
  test.each([
    ["a plain entry covers itself", "/x/a", "/x/a", "/x/ab"],
    ["a plain entry does not cover paths below it", "/x/a", "/x/a/", "/x/a/b"],
    ["a star is one segment, not two", "/x/*", "/x/a", "/x/a/b"],
    ["a star is one segment, not none", "/x/*", "/x/a", "/x/"],
    ["two stars are zero or more: the folder itself, not its neighbour", "/x/**", "/x", "/xy"],
    ["two stars match any depth", "/x/**", "/x/a/b/c", "/y/a/b/c"],
    ["two stars in the middle may be empty", "/x/**/z", "/x/z", "/x/zz"],
    ["two stars in the middle may be long", "/x/**/z", "/x/a/b/z", "/x/a/b/z/c"],
    ["a star inside a segment stays in it", "/x/a*", "/x/ab", "/x/b"],
    ["a star inside a segment may be empty", "/x/a*", "/x/a", "/x/a/b"],
    ["parts between stars come in order and do not overlap", "/x/ab*ba", "/x/abba", "/x/aba"],
    ["dotfiles are ordinary names", "/x/*", "/x/.a", "/x/./"],
    ["letters keep their case", "/x/A", "/x/A", "/x/a"],
    ["braces are choices", "/x/{a,b}", "/x/b", "/x/c"],
    ["relative paths start at the root", "a", "/a", "a"],
    ["the tilde is the home folder", "~/a", "/home/u/a", "/home/v/a"],
    ["dots are resolved before matching", "/x/**", "/y/../x/a", "/x/../y/a"],
  ])("%s", (_rule, pattern, allowed, denied) => {
    expect(covers(pattern, allowed)).toBe(true);
    expect(covers(pattern, denied)).toBe(false);
  });
});

describe("a protected path is covered only by its name", () => {
  test.each([
    ["/**", "/home/u/.ssh", "/home/u/.ssi"],
    ["/home/u/**", "/home/u/.ssh/key", "/home/u/.ss/key"],
    ["/home/u/*", "/home/u/.ssh", "/home/u/ssh"],
    ["/home/u/.ss*", "/home/u/.ssh", "/home/u/.ssx"],
    ["/home/*/.ssh/**", "/home/u/.ssh/key", "/home/v/.ssh/key"],
    ["/**/.ssh", "/home/u/.ssh", "/home/v/.ssh"],
    ["~/.config/**", "/home/u/.config/ambit/x", "/home/u/.config/other/x"],
  ])("%s does not cover %s, but covers %s", (pattern, denied, allowed) => {
    expect(covers(pattern, denied)).toBe(false);
    expect(covers(pattern, allowed)).toBe(true);
  });

  test.each([
    ["/home/u/.ssh", "/home/u/.ssh", "/home/u/.ssh/key"],
    ["/home/u/.ssh/**", "/home/u/.ssh/key", "/home/u/.config/ambit/key"],
    ["~/.ssh/*.pub", "/home/u/.ssh/a.pub", "/home/u/.ssh/a"],
    ["/home/u/.config/ambit/**", "/home/u/.config/ambit", "/home/u/.ssh"],
  ])("%s names it and covers %s, not %s", (pattern, allowed, denied) => {
    expect(covers(pattern, allowed)).toBe(true);
    expect(covers(pattern, denied)).toBe(false);
  });
});

describe("parsing", () => {
  test.each([
    ["/", "/"],
    ["//a///b/", "/a/b"],
    ["/a/./b/../c", "/a/c"],
    ["/..", "/"],
    ["/../../a", "/a"],
    ["~", "/home/u"],
    ["~/x", "/home/u/x"],
    ["~x", "/work/~x"],
    [".", "/work"],
    ["../x", "/x"],
  ])("%j is %s", (text, expected) => {
    const result = parsePath(text, PATH_SETTINGS);
    expect(result.ok && pathText(result.value.segments)).toBe(expected);
  });

  test.each([
    ["", "bad_value"],
    ["/a\0b", "bad_value"],
    ["/a\uE000", "bad_value"],
    ["/a\uD800", "bad_value"],
    [`/${"a".repeat(4096)}`, "too_long"],
    ["/a".repeat(513), "too_long"],
  ])("%j is refused", (text, code) => {
    expect(parsePath(text, PATH_SETTINGS)).toMatchObject({ ok: false, code });
  });

  test.each(["a", "~/a", "~"])("%j has no meaning without a working folder", (text) => {
    expect(parsePath(text, NOWHERE)).toMatchObject({ ok: false, code: "not_absolute" });
  });

  test.each([
    ["/a?", "/a"],
    ["/[ab]", "/ab"],
    ["/a/**/../b", "/a/**/..b"],
    ["!/a", "/!a"],
    ["/a/*/../b", "/a/x/../b"],
    ["/{a,b", "/{a,b}"],
  ])("the pattern %j is refused, %j is not", (bad, good) => {
    expect(parsePathPatterns(bad, [], PATH_SETTINGS)).toMatchObject({ ok: false, code: "bad_pattern" });
    expect(parsePathPatterns(good, [], PATH_SETTINGS).ok).toBe(true);
  });

  test.each([
    ["../x", "./x"],
    ["/workx", "/work"],
    ["~/a", "a"],
    ["a/../../b", "a/../b"],
  ])("the pattern %j leaves its root and is refused, %j stays", (bad, good) => {
    expect(parsePathPatterns(bad, ["work"], PATH_SETTINGS)).toMatchObject({ ok: false, code: "escapes_root" });
    expect(parsePathPatterns(good, ["work"], PATH_SETTINGS).ok).toBe(true);
  });

  test("a root is one folder", () => {
    expect(parseRoot("/a/*", PATH_SETTINGS)).toMatchObject({ ok: false, code: "bad_pattern" });
    expect(parseRoot("/a/b", PATH_SETTINGS)).toEqual({ ok: true, value: ["a", "b"] });
  });

  test.each([
    ["/x/**/**/y", "/x/**/y"],
    ["x/*.ts", "/x/*.ts"],
  ])("the pattern %j is printed %s", (text, expected) => {
    const result = parsePathPatterns(text, [], { ...PATH_SETTINGS, base: [] });
    expect(result.ok && result.value.map(pathPatternText)).toEqual([expected]);
  });
});
