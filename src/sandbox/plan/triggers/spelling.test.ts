// One name in many spellings, as file systems read them.
import { describe, expect, test } from "vitest";
import { isGitName, isShortName, nameKey } from "./spelling.ts";

describe("names that some file system reads as `.git`", () => {
  test.each([
    ".git",
    ".GIT",
    ".Git",
    ".g\u0131t",
    ".gi\u200ct",
    "\ufeff.git",
    ".g\u202eit",
    ".git\u2060",
    ".g\u00adit",
    ".git ",
    ".git...",
    ".git . .",
    ".git::$INDEX_ALLOCATION",
    ".git:x",
    ".GIT. ::$DATA",
    "git~1",
    "GIT~1",
    "git~2",
    "\uff0egit",
  ])("%j", (name) => {
    expect(isGitName(name)).toBe(true);
  });

  test.each([
    ".gi",
    ".gitt",
    "git",
    "git~",
    "git~0",
    "1git~1",
    ".git~1",
    ".gitignore",
    ". git",
    ".g it",
    "..git",
    ":git",
  ])("and not %j", (name) => {
    expect(isGitName(name)).toBe(false);
  });
});

describe("keys", () => {
  test.each([
    ["e\u0301", "\u00e9"],
    ["E\u0301", "\u00e9"],
    ["\u212a", "k"],
    ["\u017f", "s"],
    ["stra\u00dfe", "STRASSE"],
    ["\u03c3", "\u03c2"],
    ["\ufb01le", "file"],
    ["a.", "a"],
  ])("%j is %j", (left, right) => {
    expect(nameKey(left)).toBe(nameKey(right));
  });

  test.each([
    ["a", "b"],
    ["a", "a1"],
    [".a", "a"],
    ["a.b", "a"],
    ["e", "\u00e9"],
    ["..", "."],
  ])("%j is not %j", (left, right) => {
    expect(nameKey(left)).not.toBe(nameKey(right));
  });

  test("a name of dots alone keeps its dots", () => {
    expect([nameKey("."), nameKey(".."), nameKey(". ")]).toEqual([".", "..", ". "]);
  });
});

test.each<[string, string, boolean]>([
  ["gitmod~1", ".gitmodules", true],
  ["gitmod~4", ".gitmodules", true],
  ["gi7eba~1", ".gitmodules", true],
  ["gitmo~12", ".gitmodules", true],
  ["gitmod~x", ".gitmodules", false],
  ["gitmob~1", ".gitmodules", false],
  ["gitmod~1.x", ".gitmodules", false],
  ["settin~1.jso", "settings.local.json", true],
  ["settin~1.jsx", "settings.local.json", false],
  ["mcp~1.jso", ".mcp.json", true],
  ["vscode~1", ".vscode", true],
  ["vscod~1", ".vscode", false],
])("%s as the short name of %s: %s", (key, long, is) => {
  expect(isShortName(key, long)).toBe(is);
});
