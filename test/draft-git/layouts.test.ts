// Repositories without their full history: shallow and partial clones, and those that borrow objects.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../sandbox/fixture.ts";
import { draftOf, type GitFixture, git, gitFixture, land, refusalOf, write } from "./fixture.ts";

let here: GitFixture;
const folders: string[] = [];

beforeEach(() => {
  here = gitFixture();
  folders.push(here.folder);
  write(here.root, "a.txt", "more\n");
  git(here, "commit", "-q", "-am", "more");
  git(here, "config", "uploadpack.allowFilter", "true");
});

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

/** The ground with a clone in place of its repository. */
function cloned(...options: readonly string[]): GitFixture {
  const root = join(here.folder, "clone");
  git(here, "clone", "-q", ...options, root);
  return { ...here, root };
}

const COMMIT = "echo three >> a.txt; git add a.txt; git commit -q -m second";

test("a commit lands in a shallow clone, which stays shallow", async () => {
  const clone = cloned("--depth", "1", `file://${here.root}`);
  const before = readFileSync(join(clone.root, ".git/shallow"), "utf8");
  const result = await land(clone, draftOf(clone, COMMIT));
  expect(result).toMatchObject({ commits: 1, objects: 3 });
  expect(git(clone, "log", "--format=%s")).toBe("second\nmore");
  expect(readFileSync(join(clone.root, ".git/shallow"), "utf8")).toBe(before);
  expect(git(clone, "status", "--porcelain")).toBe("");
  expect(git(clone, "fsck", "--strict")).toBe("");
});

test("a draft that deepens or truncates the history of a repository stays", async () => {
  const clone = cloned("--depth", "1", `file://${here.root}`);
  expect(await refusalOf(clone, draftOf(clone, `rm .git/shallow; ${COMMIT}`))).toMatch(/^(unsupported|bad_objects): /);
  const whole = draftOf(here, `git rev-parse HEAD > .git/shallow; ${COMMIT}`);
  expect(await refusalOf(here, whole)).toMatch(/^unsupported: the program gave the repository a shallow history/);
  expect(existsSync(join(here.root, ".git/shallow"))).toBe(false);
});

test("a commit lands in a repository that borrows objects, and its alternates stay", async () => {
  const clone = cloned("--shared", here.root);
  const before = readFileSync(join(clone.root, ".git/objects/info/alternates"), "utf8");
  await land(clone, draftOf(clone, COMMIT));
  expect(git(clone, "log", "--format=%s")).toBe("second\nmore\nfirst");
  expect(readFileSync(join(clone.root, ".git/objects/info/alternates"), "utf8")).toBe(before);
  expect(git(clone, "fsck", "--strict")).toBe("");
});

test("a commit lands in a partial clone that has the needed objects", async () => {
  const clone = cloned("--filter=blob:none", `file://${here.root}`);
  await land(clone, draftOf(clone, COMMIT));
  expect(git(clone, "log", "--format=%s")).toBe("second\nmore\nfirst");
  expect(git(clone, "status", "--porcelain")).toBe("");
});

test("a commit that needs an object missing in the partial clone stays, and nothing is fetched", async () => {
  const clone = cloned("--filter=blob:none", "--no-checkout", `file://${here.root}`);
  const missing = git(here, "rev-parse", "HEAD:a.txt");
  const draft = draftOf(
    clone,
    `t=$(printf '100644 blob ${missing}\\tz.txt\\n' | git mktree --missing); git update-ref refs/heads/x $(git commit-tree -m x $t)`,
  );
  expect(await refusalOf(clone, draft)).toMatch(/^bad_objects: .*an import fetches no objects$/);
  const packs = git(clone, "rev-list", "--objects", "--all", "--missing=print");
  expect(packs).toContain(`?${missing}`);
});
