// Parses git configuration text as git does. `test/triggers` compares it with the real git.
import { describe, expect, test } from "vitest";
import { gitConfigCharactersMax, readGitConfig } from "./git-config.ts";

function read(text: string): readonly string[] | string {
  const result = readGitConfig(text);
  if (!result.ok) return result.code;
  return result.value.map(({ section, subsection, key, value }) =>
    [section, subsection, key]
      .filter((one) => one !== null)
      .join(".")
      .concat(value === null ? "" : `=${value}`),
  );
}

describe("what git accepts", () => {
  test.each<[string, readonly string[]]>([
    ["", []],
    ["# only a comment", []],
    ["[core]\n\thooksPath = a/b\n", ["core.hookspath=a/b"]],
    ["[core] hooksPath = a ; comment\n", ["core.hookspath=a"]],
    ["[core]\nhooksPath = a \\\n", ["core.hookspath=a "]],
    ['[core]\nx = "a # b" # c', ["core.x=a # b"]],
    ["[CORE]\nHOOKSPATH=a", ["core.hookspath=a"]],
    ['[includeIf "gitdir:~/W/"]\npath = x', ["includeif.gitdir:~/W/.path=x"]],
    ['[a "b\\"c\\\\d"]\nk=v', ['a.b"c\\d.k=v']],
    ["[a.B]\nk=v", ["a.b.k=v"]],
    ["[a]\nk", ["a.k"]],
    ["[a]\nk\nl = 1", ["a.k", "a.l=1"]],
    ["[a]\nk = one\\\ntwo", ["a.k=onetwo"]],
    ['[a]\nk = x\\ty\\\\z\\"', ['a.k=x\ty\\z"']],
    ['[a]\nk = a" b "c  ', ["a.k=a b c"]],
    ["[a]\r\nk = v\r\n", ["a.k=v"]],
    ["\ufeff[a]\nk=v", ["a.k=v"]],
    ["[a]k=v\n[b]l=w", ["a.k=v", "b.l=w"]],
    ["[a]\nk =", ["a.k="]],
  ])("%j", (text, settings) => {
    expect(read(text)).toEqual(settings);
  });
});

describe("what git does not accept is an error, never empty", () => {
  test.each([
    "k = v",
    "[a",
    "[]\nk=v",
    "[a]\n1k=v",
    '[a]\nk = "x',
    "[a]\nk = \\q",
    "[a]\nk v",
    "[a]\nk # comment",
    '[a "b]\nk=v',
    "[a b]\nk=v",
  ])("%j", (text) => {
    expect(read(text)).toBe("bad_value");
  });

  test("more than our limit", () => {
    expect(read(`#${"x".repeat(gitConfigCharactersMax)}`)).toBe("too_long");
    expect(read(`[a]\n${"k=v\n".repeat(30_000)}`)).toBe("too_long");
  });
});
