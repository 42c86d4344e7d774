import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findNames } from "./find-names.ts";

let base: readonly string[];
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-names-")));
  mkdirSync(join(folder, "a", "keys"), { recursive: true });
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "b", "keys"), "");
  symlinkSync(join(folder, "a"), join(folder, "c"));
  symlinkSync("nowhere", join(folder, "a", "dangling"));
  base = folder.split("/").filter((name) => name !== "");
});
afterEach(() => rmSync(`/${base.join("/")}`, { recursive: true }));

const names = (...patterns: string[]): readonly string[] | undefined =>
  findNames(patterns.map((pattern) => [...base, ...pattern.split("/")]))?.map(
    ({ path, kind }) => `${kind} ${path.slice(base.length).join("/")}`,
  );

test.each<[string, readonly string[]]>([
  ["a/keys", ["folder a/keys"]],
  ["a/kays", []],
  ["*/keys", ["folder a/keys", "file b/keys"]],
  ["*", ["folder a", "folder b", "link c"]],
  ["a/dangling", ["link a/dangling"]],
  ["b/keys/x", []],
  ["c/keys", []],
])("%s", (pattern, expected) => {
  expect(names(pattern)?.toSorted()).toEqual([...expected].sort());
});

test("a name that two patterns find is found once; more than can be looked at is no answer", () => {
  expect(names("a", "*")).toHaveLength(3);
  expect(findNames(new Array<string[]>(20_001).fill([...base, "a"]))).toBeNull();
});
