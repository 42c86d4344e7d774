// Names, keys and ids are segments between slashes, tools an origin and segments between dots.
import { describe, expect, test } from "vitest";
import type { Result } from "../../base/result.ts";
import { sequenceMatches } from "../patterns/sequence.ts";
import {
  namePatternText,
  nameText,
  parseName,
  parseNamePattern,
  parseTool,
  parseToolPattern,
  toolPatternText,
} from "./name.ts";

function good<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.message);
  return result.value;
}

describe("a name pattern covers", () => {
  test.each([
    ["a name is itself", "a", "a", "ab"],
    ["a star is one segment", "team/*", "team/a", "team/a/b"],
    ["two stars are any number", "team/**", "team/a/b", "teams/a/b"],
    ["two stars may be none", "team/**", "team", "tea"],
    ["a star inside a segment stays in it", "db-*", "db-main", "db"],
    ["a star inside a segment does not cross a slash", "db-*", "db-a", "db-a/b"],
    ["a dot is an ordinary character of a name", "a.*", "a.b", "ab"],
  ])("%s", (_rule, pattern, allowed, denied) => {
    const parsed = good(parseNamePattern(pattern));
    expect(sequenceMatches(parsed, good(parseName(allowed)))).toBe(true);
    expect(sequenceMatches(parsed, good(parseName(denied)))).toBe(false);
  });

  test.each([
    ["a", ""],
    ["a/b", "a//b"],
    ["a/b", "/b"],
    ["a/b", "a/"],
    ["a/.b", "a/."],
    ["a/...", "a/.."],
    ["a b", "a\nb"],
    ["a", "*"],
    ["a", "a\uE000"],
  ])("%j is a name, %j is not", (allowed, denied) => {
    expect(nameText(good(parseName(allowed)).segments)).toBe(allowed);
    expect(parseName(denied).ok).toBe(false);
  });

  test.each([
    ["a/**/**/b", "a/**/b"],
    ["a/*", "a/*"],
    ["db-**x", "db-*x"],
  ])("the pattern %j is printed %s", (text, expected) => {
    expect(namePatternText(good(parseNamePattern(text)))).toBe(expected);
  });
});

describe("a built-in tool by its dotted name", () => {
  test.each([
    ["fs.read", "fs_read"],
    ["builtin:web.fetch", "web_fetch"],
    ["records.links", "records_links"],
  ])("%s is %s", (dotted, name) => {
    expect(parseTool(dotted)).toEqual(parseTool(name));
    expect(parseToolPattern(dotted)).toEqual(parseToolPattern(name));
  });
  test.each(["fs.reads", "tool:fs.read", "fs..read", "memory.read", "FS.read"])("%s is not", (text) => {
    const tool = parseTool(text);
    expect(tool.ok ? tool.value.segments[0] : "refused").not.toBe("builtin");
  });
});

describe("a tool pattern covers", () => {
  test.each([
    ["a built-in name is the built-in tool", "fs_read", "fs_read", "fs_write"],
    ["a built-in name does not cover a third-party tool of that name", "fs_read", "builtin:fs_read", "tool:fs_read"],
    ["`builtin:**` is every built-in tool and no other", "builtin:**", "git", "gitt"],
    ["another name is a third-party tool", "server.search", "server.search", "server.searches"],
    ["a star is one part", "server.*", "server.search", "server.search.deep"],
    ["two stars are any parts", "server.**", "server.search.deep", "servers.search.deep"],
    ["`tool:**` is every tool from elsewhere and no built-in one", "tool:**", "server.search", "fs_read"],
    ["a star without an origin matches any origin", "fs_*", "fs_read", "f_read"],
  ])("%s", (_rule, pattern, allowed, denied) => {
    const parsed = good(parseToolPattern(pattern));
    expect(sequenceMatches(parsed, good(parseTool(allowed)))).toBe(true);
    expect(sequenceMatches(parsed, good(parseTool(denied)))).toBe(false);
  });

  test.each([
    ["builtin:git", "builtin:gitt"],
    ["server.a", "server..a"],
    ["server.a", "server.*"],
    ["tool:a", "tool:"],
  ])("%j is a tool, %j is not", (allowed, denied) => {
    expect(parseTool(allowed).ok).toBe(true);
    expect(parseTool(denied).ok).toBe(false);
  });

  test.each([
    ["builtin:**", "builtin:**"],
    ["fs_read", "fs_read"],
    ["builtin:fs_read", "fs_read"],
    ["tool:fs_read", "tool:fs_read"],
    ["tool:server.a", "server.a"],
    ["server.*", "server.*"],
  ])("the pattern %j is printed %s", (text, expected) => {
    expect(toolPatternText(good(parseToolPattern(text)))).toBe(expected);
  });
});
