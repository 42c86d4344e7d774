// What programs do with git every day lands in the person's repository with the same meaning.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { removeFolder } from "../sandbox/ground.ts";
import { draftOf, type Ground, git, ground, land } from "./ground.ts";

let here: Ground;
const folders: string[] = [];

beforeEach(() => {
  here = ground();
  folders.push(here.folder);
});

afterAll(() => folders.forEach(removeFolder));

/** The repository is sound, its worktree is clean, and no lock or temporary file is left. */
function expectSound(status = ""): void {
  expect(git(here, "fsck", "--full", "--strict", "--no-dangling")).toBe("");
  expect(git(here, "status", "--porcelain")).toBe(status);
}

describe("a commit", () => {
  test("lands as objects, ref, index and log", async () => {
    const first = git(here, "rev-parse", "HEAD");
    const result = await land(here, draftOf(here, "echo three >> a.txt; git add a.txt; git commit -q -m second"));
    expect(result).toMatchObject({ steps: ["objects", "refs", "index"], commits: 1, objects: 3, notes: [] });
    expect(git(here, "log", "--format=%s", "main")).toBe("second\nfirst");
    expect(git(here, "rev-parse", "HEAD@{1}")).toBe(first);
    expectSound();
  });
});
