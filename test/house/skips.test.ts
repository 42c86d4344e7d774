// The check of skips, with planted violations: it is only worth something if it can fail.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { type AllowedSkip, allowedSkips, skipProblems } from "./skips.ts";

const file = "test/a.test.ts";
const skip = { file, title: "a disk is full" };
const entry: AllowedSkip = { file, title: /disk is full$/, reason: "only root mounts", holds: () => true };

test("a listed skip passes, and so does a run without its file", () => {
  expect(skipProblems([skip], [file], [entry])).toEqual([]);
  expect(skipProblems([], ["test/b.test.ts"], [entry])).toEqual([]);
});

test.each<[string, Parameters<typeof skipProblems>]>([
  ["an unlisted skip", [[skip], [file], []]],
  ["a skip of another title", [[{ ...skip, title: "a disk is full of air" }, skip], [file], [entry]]],
  ["a skip in another file", [[skip, { ...skip, file: "test/b.test.ts" }], [file], [entry]]],
  ["a listed skip whose reason does not hold here", [[skip], [file], [{ ...entry, holds: () => false }]]],
  ["an entry whose tests ran", [[], [file], [entry]]],
])("%s is a problem", (_what, [skips, files, allowed]) => {
  expect(skipProblems(skips, files, allowed)).toHaveLength(1);
});

test("every entry names a file that exists and has a reason", () => {
  expect(allowedSkips.length).toBeGreaterThan(0);
  for (const { file: named, reason } of allowedSkips) {
    expect(existsSync(join(root, named)), named).toBe(true);
    expect(/\b(skip|skipIf|runIf)\b/.test(readFileSync(join(root, named), "utf8")), named).toBe(true);
    expect(reason).toMatch(/\w+ \w+/);
  }
});
