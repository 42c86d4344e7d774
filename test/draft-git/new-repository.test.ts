// `git init` and `git clone` inside the root, through the real command line: a clean git folder of ours lands.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DraftProject } from "../draft/project.ts";
import { CALLERS } from "../house/callers.ts";

let fixture: DraftProject;
beforeEach(() => {
  fixture = new DraftProject(CALLERS[0] ?? 0);
});
afterEach(() => fixture.end());

function git(...words: readonly string[]): string {
  const { status, out, err } = fixture.person("git", ...words);
  if (status !== 0) throw new Error(`git ${words.join(" ")}: ${err}`);
  return out.trimEnd();
}

const COMMIT = "echo x > x.txt && git add x.txt && git commit -q -m first";
const CLEAN = "[core]\nrepositoryformatversion = 0\nbare = false\nlogAllRefUpdates = true\n";

test("a new repository lands with its commits, branch and index, and with our config", () => {
  const { changes, errors } = fixture.shell(`git init -q -b trunk new && cd new && ${COMMIT} && git tag v1`);
  expect([errors, changes?.kept]).toEqual(["", []]);
  expect(git("-C", "new", "log", "--format=%s", "trunk")).toBe("first");
  expect(git("-C", "new", "rev-parse", "--abbrev-ref", "HEAD")).toBe("trunk");
  expect(git("-C", "new", "tag")).toBe("v1");
  expect(git("-C", "new", "status", "--porcelain")).toBe("");
  expect(git("-C", "new", "fsck", "--strict")).toBe("");
  expect(fixture.read("new/.git/config")).toBe(CLEAN);
  expect(existsSync(join(fixture.project, "new/.git/hooks"))).toBe(false);
});

test("a repository without a commit lands, and the next command works in it", () => {
  expect(fixture.shell("git init -q -b main").changes?.kept).toEqual([]);
  expect(fixture.shell(COMMIT).changes?.kept).toEqual([]);
  expect(git("log", "--format=%s")).toBe("first");
});

test("a clone lands without its own settings, and the report says so", () => {
  fixture.shell(`git init -q -b main new && cd new && ${COMMIT}`);
  // An overlay gives a hard link another inode number, and git refuses that.
  const { changes } = fixture.shell("git clone -q --no-hardlinks new copy");
  expect(changes?.kept.map(({ path, code }) => `${path} ${code}`)).toContain("copy/.git/config self_modification");
  expect(git("-C", "copy", "log", "--format=%s")).toBe("first");
  expect(git("-C", "copy", "status", "--porcelain")).toBe("");
  expect(fixture.read("copy/.git/config")).toBe(CLEAN);
});

test("hooks, programs in the config and filters of a new repository never land", () => {
  const { changes } = fixture.shell(
    `git init -q -b main new && cd new && ${COMMIT} && git config core.fsmonitor ./evil && mkdir -p .git/hooks && echo evil > .git/hooks/post-checkout && echo '* filter=x' > .git/info/attributes`,
  );
  expect(changes?.kept.map(({ path }) => path).sort()).toEqual([
    "new/.git/config",
    "new/.git/hooks/post-checkout",
    "new/.git/info/attributes",
  ]);
  expect(fixture.read("new/.git/config")).toBe(CLEAN);
  expect(existsSync(join(fixture.project, "new/.git/hooks"))).toBe(false);
  expect(fixture.read("new/.git/info/attributes")).toBeNull();
});

test("a commit that adds a trigger keeps the new repository back until it is approved", () => {
  const { changes } = fixture.shell(
    "git init -q -b main new && cd new && echo evil > .envrc && git add -f .envrc && git commit -q -m evil",
  );
  expect(changes?.kept.map(({ path, code }) => `${path} ${code}`)).toContain("new/.git approval_required");
  expect(existsSync(join(fixture.project, "new/.git"))).toBe(false);
});

test("a new repository in a folder tracked by another waits for approval: it would hide new files", () => {
  fixture.repository();
  fixture.write("part/one.txt", "1\n");
  const { changes } = fixture.shell(`cd part && git init -q -b main && ${COMMIT}`);
  expect(changes?.kept.map(({ path, code }) => `${path} ${code}`)).toEqual(["part/.git approval_required"]);
  expect(existsSync(join(fixture.project, "part/.git"))).toBe(false);
  expect(fixture.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
  expect(git("-C", "part", "log", "--format=%s")).toBe("first");
});

test("a git folder without HEAD is not a repository, and never lands", () => {
  const { changes } = fixture.shell("mkdir -p new/.git/objects new/.git/refs && echo x > new/.git/config");
  expect(changes?.kept.length).toBeGreaterThan(0);
  expect(existsSync(join(fixture.project, "new/.git"))).toBe(false);
});

test("nothing stays in the state folder after a landing", () => {
  fixture.shell(`git init -q new && cd new && ${COMMIT}`);
  const { out } = fixture.person("find", join(fixture.base, "state"), "-name", "git-new-*");
  expect(out).toBe("");
  expect(readFileSync(join(fixture.project, "new/.git/HEAD"), "utf8")).toMatch(/^ref: refs\/heads\//);
});

test("a new repository in a folder that stays with another git change stays as well, and nothing is said to be in the project", () => {
  fixture.repository();
  const modules = "printf '[submodule \"s\"]\\n\\tpath = s\\n\\turl = -x\\n' > .gitmodules";
  const { changes } = fixture.shell(
    `git init -q s && cd s && ${COMMIT} && cd .. && ${modules} && git add . && git commit -qm sub`,
  );
  expect(changes?.landed).toBe(0);
  expect(changes?.kept.map(({ path }) => path)).toEqual(expect.arrayContaining([".git", "s/.git"]));
  expect(changes?.kept.map(({ reason }) => reason).join("\n")).not.toContain("in the project");
  expect(existsSync(join(fixture.project, "s"))).toBe(false);
});
