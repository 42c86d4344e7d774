// A person and a program work on one repository at the same time: the person's work is never lost, and new commits bring no
// trigger that a person has not seen.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { readSeenState } from "../../src/sandbox/drafts/git/repository.ts";
import { removeFolder } from "../sandbox/fixture.ts";
import { draftOf, type GitFixture, git, gitFixture, land, prepare, refusalOf, write } from "./fixture.ts";

let here: GitFixture;
const folders: string[] = [];

beforeEach(() => {
  here = gitFixture();
  folders.push(here.folder);
});

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

function locks(): readonly string[] {
  const folder = join(here.root, ".git");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".lock")).map((name) => join(folder, name));
}

const COMMIT = "echo three >> a.txt; git add a.txt; git commit -q -m second";

describe("a person who meanwhile", () => {
  test("commits: a conflict, and the person's commit stays", async () => {
    const draft = draftOf(here, COMMIT);
    write(here.root, "folder/b.txt", "mine\n");
    git(here, "commit", "-q", "-a", "-m", "mine");
    expect(await refusalOf(here, draft)).toMatch(/^conflict: /);
    expect(git(here, "log", "--format=%s")).toBe("mine\nfirst");
    expect(git(here, "status", "--porcelain")).toBe("");
  });

  test("commits on a branch the program does not change: no conflict for a branch of the program's own", async () => {
    const draft = draftOf(here, "git update-ref refs/heads/own $(git commit-tree -m own -p HEAD HEAD^{tree})");
    git(here, "commit", "-q", "--allow-empty", "-m", "mine");
    await land(here, draft);
    expect(git(here, "log", "--format=%s", "own")).toBe("own\nfirst");
    expect(git(here, "log", "--format=%s", "main")).toBe("mine\nfirst");
  });

  test("moves the branch to the parent of the program's commit: the fast-forward lands", async () => {
    git(here, "branch", "side");
    const next = git(here, "commit-tree", "-m", "next", "-p", "HEAD", "HEAD^{tree}");
    const draft = draftOf(here, `git update-ref refs/heads/side $(git commit-tree -m on -p ${next} HEAD^{tree})`);
    git(here, "update-ref", "refs/heads/side", next);
    await land(here, draft);
    expect(git(here, "log", "--format=%s", "side")).toBe("on\nnext\nfirst");
  });

  test.each([
    ["stages a file", "conflict: the index", (): string => git(here, "add", "mine.txt")],
    ["switches the branch", "conflict: ", (): string => git(here, "checkout", "-q", "-b", "elsewhere")],
    ["deletes the branch", "conflict: refs/heads/side", (): string => git(here, "branch", "-q", "-D", "side")],
    [
      "is in the middle of a merge",
      "in_progress: ",
      (): string => git(here, "merge", "-q", "--no-commit", "--no-ff", "side"),
    ],
  ])("%s: %s", async (_, reason, act) => {
    git(here, "checkout", "-q", "-b", "side");
    git(here, "commit", "-q", "--allow-empty", "-m", "side");
    git(here, "checkout", "-q", "main");
    write(here.root, "mine.txt", "mine\n");
    const draft = draftOf(here, `${COMMIT}; git branch -q -f side HEAD`);
    act();
    const refs = git(here, "for-each-ref");
    expect(await refusalOf(here, draft)).toContain(reason);
    expect(git(here, "for-each-ref")).toBe(refs);
  });

  test("refreshes the index: with the entries the program saw that is not a conflict", async () => {
    const folder = join(here.root, ".git");
    const state = readSeenState({ folder, common: folder });
    const draft = draftOf(here, COMMIT);
    write(here.root, "folder/b.txt", "two\n");
    git(here, "update-index", "--refresh");
    expect(await refusalOf(here, draft)).toMatch(/^conflict: the index/);
    await land(here, draft, { seen: () => state });
    expect(git(here, "log", "--format=%s")).toBe("second\nfirst");
  });

  test("wrote HEAD and index in the tick in which the program started: their values show that nothing changed", async () => {
    const folder = join(here.root, ".git");
    const state = readSeenState({ folder, common: folder });
    const draft = { ...draftOf(here, `${COMMIT}; git checkout -q --detach`), startedNanoseconds: 0n };
    expect(await refusalOf(here, draft)).toMatch(/^conflict: the index/);
    await land(here, draft, { seen: () => state });
    expect(git(here, "log", "--format=%s")).toBe("second\nfirst");
  });

  test("commits between prepare and commit: the locks keep the two apart", async () => {
    const outcome = await prepare(here, draftOf(here, COMMIT));
    if (outcome.kind !== "prepared") throw new Error(outcome.kind);
    expect(() => git(here, "commit", "-q", "--allow-empty", "-m", "mine")).toThrow(/index\.lock/);
    expect(() => git(here, "update-ref", "refs/heads/main", "HEAD^{commit}", "HEAD")).toThrow(/lock/);
    expect(await outcome.prepared.commit()).toMatchObject({ ok: true });
    git(here, "commit", "-q", "--allow-empty", "-m", "mine");
    expect(git(here, "log", "--format=%s")).toBe("mine\nsecond\nfirst");
  });

  test.each(["index", "HEAD", "refs/heads/side", "packed-refs"])(
    "holds %s.lock: after a bounded wait it stays a draft",
    async (name) => {
      git(here, "branch", "side");
      const draft = draftOf(here, `${COMMIT}; git checkout -q --detach; git branch -q -D side`);
      writeFileSync(join(here.root, `.git/${name}.lock`), "");
      const refs = git(here, "for-each-ref");
      expect(await refusalOf(here, draft)).toMatch(/^busy: .*lock/);
      expect(git(here, "for-each-ref")).toBe(refs);
      expect(git(here, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
    },
  );

  test("a git that is killed during preparation leaves no lock, and nothing moves", async () => {
    git(here, "branch", "side");
    git(here, "pack-refs", "--all");
    const told: string[] = [];
    const outcome = await prepare(here, draftOf(here, `${COMMIT}; git branch -q -D side; git checkout -q --detach`), {
      onLocks: (paths) => void told.push(...paths),
    });
    if (outcome.kind !== "prepared") throw new Error(JSON.stringify(outcome));
    expect(locks().length).toBeGreaterThan(3);
    expect(told).toEqual(expect.arrayContaining([...locks()]));
    const refs = git(here, "for-each-ref");
    await here.sandboxes.end(null);
    expect(await outcome.prepared.commit()).toMatchObject({ ok: false, steps: ["objects"] });
    expect(locks()).toEqual([]);
    expect(git(here, "for-each-ref")).toBe(refs);
    expect(git(here, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  test("cancels the import: nothing moves", async () => {
    expect(await refusalOf(here, draftOf(here, COMMIT), { signal: AbortSignal.abort() })).toMatch(
      /^unavailable: .*stopped/,
    );
    expect(locks()).toEqual([]);
  });

  test("has the branch checked out in another worktree", async () => {
    git(here, "worktree", "add", "-q", "-b", "other", join(here.folder, "other"));
    const draft = draftOf(here, "git update-ref refs/heads/other $(git commit-tree -m x -p HEAD HEAD^{tree})");
    expect(await refusalOf(here, draft)).toMatch(/^unsupported: .*linked worktree/);
  });

  test("an import that is run twice does nothing the second time", async () => {
    const draft = draftOf(here, COMMIT);
    await land(here, draft);
    expect((await prepare(here, draft)).kind).toBe("nothing");
  });
});

describe("an operation in progress in the draft stays", () => {
  const fork =
    "git checkout -q -b side; echo s > a.txt; git commit -q -a -m s; git checkout -q main; echo m > a.txt; git commit -q -a -m m";
  test.each([
    ["merge", `${fork}; git merge side || true`],
    ["rebase", `${fork}; git rebase side || true`],
    ["cherry-pick", `${fork}; git cherry-pick side || true`],
    ["revert", `${fork}; git revert --no-edit side || true`],
    ["bisect", "git bisect start"],
  ])("%s", async (operation, script) => {
    expect(await refusalOf(here, draftOf(here, script))).toContain(`in_progress: a ${operation}`);
  });
});

describe("paths that need approval", () => {
  const envrc = "echo x > .envrc; git add .; git commit -q -m env";

  test("a commit that adds one waits, names it, and lands after approval", async () => {
    const draft = draftOf(here, envrc);
    const outcome = await prepare(here, draft);
    expect(outcome).toMatchObject({
      kind: "waits",
      count: 1,
      paths: [{ path: ".envrc", class: "ask", change: "added" }],
    });
    expect(git(here, "log", "--format=%s", "--all")).toBe("first");
    await land(here, draft, { isApproved: true });
    expect(git(here, "log", "--format=%s")).toBe("env\nfirst");
  });

  test.each([
    ["in a commit that the next one reverts", `${envrc}; git rm -q .envrc; git commit -q -m back`, ".envrc"],
    [
      "on another branch",
      "git checkout -q -b x; mkdir .vscode; echo x > .vscode/tasks.json; git add .; git commit -q -m x; git checkout -q main",
      ".vscode/tasks.json",
    ],
    [
      "in a merge alone",
      `git checkout -q -b x; ${COMMIT}; git checkout -q main; git merge -q --no-ff --no-commit x; echo x > .envrc; git add .; git commit -q -m m`,
      ".envrc",
    ],
    ["in a stash", "echo x > .envrc; git add .; git stash push -q", ".envrc"],
    [
      "as a link that leads away",
      "ln -s /etc/passwd link; ln -s a.txt inside; git add .; git commit -q -m l; rm link",
      "link",
    ],
    ["staged and not committed", "echo x > .envrc; git add .", ".envrc"],
    ["in a tag without a branch", `git checkout -q --detach; ${envrc}; git tag t; git checkout -q main`, ".envrc"],
    ["in a history without a parent", `git checkout -q --orphan o; ${envrc}; git checkout -q main`, ".envrc"],
  ])("%s", async (_, script, path) => {
    const outcome = await prepare(here, draftOf(here, script));
    expect(outcome.kind).toBe("waits");
    expect(outcome.kind === "waits" && outcome.paths.map((each) => each.path)).toEqual([path]);
  });

  test("a branch that is set to a commit the repository already had", async () => {
    git(here, "checkout", "-q", "-b", "fetched");
    write(here.root, ".envrc", "x");
    git(here, "add", ".");
    git(here, "commit", "-q", "-m", "fetched");
    git(here, "checkout", "-q", "main");
    const outcome = await prepare(here, draftOf(here, "git merge -q --ff-only fetched"));
    expect(outcome).toMatchObject({ kind: "waits", paths: [{ path: ".envrc" }] });
  });
});

test("the repository of a submodule lands like any other", async () => {
  git(here, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", here.root, "lib");
  git(here, "commit", "-q", "-m", "lib");
  const draft = draftOf(
    here,
    "git config --file .git/modules/lib/config --unset core.worktree; cd lib; export GIT_DIR=../.git/modules/lib GIT_WORK_TREE=.; echo x > a.txt; git add a.txt; git commit -q -m inside",
  );
  const repository = { root: here.root, gitPath: [".git", "modules", "lib"], worktreePath: ["lib"] };
  expect(await prepare(here, draft)).toEqual({
    kind: "nothing",
    notCarried: expect.arrayContaining(["modules/lib/index"]),
  });
  await land(here, draft, { repository });
  expect(git({ root: join(here.root, "lib") }, "log", "--format=%s")).toBe("inside\nfirst");
  expect(git({ root: join(here.root, "lib") }, "status", "--porcelain")).toBe("");
});

describe("repositories that are not imported", () => {
  test.each([
    ["an invalid list of shallow commits", (): void => write(here.root, ".git/shallow", "x\n")],
    ["an unknown extension", (): string => git(here, "config", "extensions.future", "true")],
    [
      "alternates to a missing repository",
      (): void => write(here.root, ".git/objects/info/alternates", "/elsewhere\n"),
    ],
  ])("%s", async (_, act) => {
    const draft = draftOf(here, COMMIT);
    const status = draftOf(here, "touch a.txt; git status -s");
    act();
    expect(await refusalOf(here, draft)).toMatch(/^unsupported: /);
    expect((await prepare(here, status)).kind).toBe("nothing");
  });
});
