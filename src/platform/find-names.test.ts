// Which of the searched names exist, including the links on the path to them.
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
afterEach(() => rmSync(folder(), { recursive: true }));

const names = (...patterns: string[]): readonly string[] | undefined =>
  findNames(patterns.map((pattern) => [...base, ...pattern.split("/")]))?.map(
    ({ path, kind }) => `${kind} ${path.slice(base.length).join("/")}`,
  );

test.each<[string, readonly string[]]>([
  ["a/keys", ["folder a/keys"]],
  ["a/kays", []],
  ["*/keys", ["folder a/keys", "file b/keys", "link c"]],
  ["*", ["folder a", "folder b", "link c"]],
  ["a/dangling", ["link a/dangling"]],
  ["b/keys/x", []],
  ["c/keys", ["link c"]],
])("%s", (pattern, expected) => {
  expect(names(pattern)?.toSorted()).toEqual([...expected].sort());
});

test("a name that two patterns match is found once; more than the limit is no answer", { timeout: 60_000 }, () => {
  expect(names("a", "*")).toHaveLength(3);
  const numbered = (count: number): string[][] => Array.from({ length: count }, (_, number) => [...base, `${number}`]);
  expect(findNames(numbered(20_000))).toBeNull();
  expect(findNames(numbered(19_900))).toEqual([]);
  expect(findNames(new Array<string[]>(20_001).fill([...base, "a"]))).toHaveLength(1);
});

test("a link into the folder is followed, and its target has its own name", () => {
  const look = (...patterns: string[]): unknown =>
    findNames(
      patterns.map((pattern) => [...base, ...pattern.split("/")]),
      base,
    )?.map(({ path, kind, target, by }) => [
      kind,
      ...[path, ...(target === null ? [] : [target]), ...by].map((one) => one.slice(base.length).join("/")),
    ]);
  symlinkSync("c/../b/keys", join(folder(), "d"));
  symlinkSync("/usr", join(folder(), "out"));
  symlinkSync("ring", join(folder(), "ring"));
  expect(look("c/keys")).toEqual([
    ["link", "c", "a"],
    ["folder", "a/keys"],
  ]);
  expect(look("d")).toEqual([
    ["link", "d", "b/keys", "c"],
    ["file", "b/keys"],
  ]);
  expect(look("a/dangling/x")).toEqual([["link", "a/dangling", "a/nowhere"]]);
  expect(look("out/bin")).toEqual([["link", "out", ""]]);
  expect(look("ring/x")).toEqual([["link", "ring"]]);
});

test("object folders of repositories are skipped, but not if a repository has that name", () => {
  for (const name of ["objects/a", "lib/objects/aa", "lib/inner"])
    mkdirSync(join(folder(), ".git", "modules", name), { recursive: true });
  for (const name of ["objects", "lib/objects/aa", "lib/inner"])
    writeFileSync(join(folder(), ".git", "modules", name, "config"), "");
  expect(names(".git/modules/*/config", ".git/modules/*/*/config", ".git/modules/*/*/*/config")?.toSorted()).toEqual([
    "file .git/modules/lib/inner/config",
    "file .git/modules/objects/config",
  ]);
});

function folder(): string {
  return `/${base.join("/")}`;
}
