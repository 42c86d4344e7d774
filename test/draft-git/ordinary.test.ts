// Everyday git commands of programs land in the person's repository with the same meaning.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { removeFolder } from "../sandbox/fixture.ts";
import { draftOf, type GitFixture, git, gitFixture, land, prepare, write } from "./fixture.ts";

let here: GitFixture;
const folders: string[] = [];

beforeEach(() => {
  here = gitFixture();
  folders.push(here.folder);
});

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

function namesBelow(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
}

/** The repository is sound, its worktree is as given, and no lock, temporary file or private folder is left. */
function expectSound(status = ""): void {
  const names = namesBelow(join(here.root, ".git"));
  expect(names.filter((name) => name.endsWith(".lock") || /tmp_|ambit/.test(name))).toEqual([]);
  expect(namesBelow(join(here.folder, "work"))).toEqual([]);
  expect(git(here, "fsck", "--full", "--strict", "--no-dangling")).toBe("");
  expect(git(here, "status", "--porcelain")).toBe(status);
}

const COMMIT = "echo three >> a.txt; git add a.txt; git commit -q -m second";

describe("a commit", () => {
  test("lands as objects, ref, index and log", async () => {
    const first = git(here, "rev-parse", "HEAD");
    const result = await land(here, draftOf(here, COMMIT));
    expect(result).toMatchObject({ steps: ["objects", "refs", "index"], commits: 1, objects: 3, notes: [] });
    expect(git(here, "log", "--format=%s", "main")).toBe("second\nfirst");
    expect(git(here, "rev-parse", "HEAD@{1}", "main@{1}")).toBe(`${first}\n${first}`);
    expectSound();
  });

  test("leaves files with the modes git gives them", async () => {
    const modes = (): readonly number[] =>
      ["index", "refs/heads/main", "logs/HEAD"].map((name) => statSync(join(here.root, ".git", name)).mode & 0o777);
    const before = modes();
    await land(here, draftOf(here, COMMIT));
    expect(modes()).toEqual(before);
  });

  test("leaves the index refreshed: the person's next git compares no content", async () => {
    await land(here, draftOf(here, COMMIT));
    expect(git(here, "diff-files", "--name-only")).toBe("");
  });

  test("lands nothing before commit(), and nothing after abort()", async () => {
    const before = git(here, "for-each-ref");
    const outcome = await prepare(here, draftOf(here, COMMIT));
    if (outcome.kind !== "prepared") throw new Error(outcome.kind);
    expect(git(here, "for-each-ref")).toBe(before);
    expect(() => git(here, "commit", "--allow-empty", "-m", "meanwhile")).toThrow(/lock/);
    await outcome.prepared.abort();
    expect(git(here, "for-each-ref")).toBe(before);
    expectSound();
    git(here, "commit", "-q", "--allow-empty", "-m", "later");
  });

  test("that amends lands as a replacement", async () => {
    await land(here, draftOf(here, "git commit -q --amend -m better"));
    expect(git(here, "log", "--format=%s")).toBe("better");
    expectSound();
  });

  test("of a removed file and of a moved one", async () => {
    await land(here, draftOf(here, "git rm -q a.txt; git mv folder/b.txt c.txt; git commit -q -m gone"));
    expect(git(here, "ls-files")).toBe("c.txt");
    expectSound();
  });

  test("of a file that turns into a folder", async () => {
    await land(here, draftOf(here, "git rm -q a.txt; mkdir a.txt; echo x > a.txt/x; git add .; git commit -q -m f"));
    expect(git(here, "ls-files")).toBe("a.txt/x\nfolder/b.txt");
    expectSound();
  });

  test("in a repository whose refs are packed", async () => {
    git(here, "branch", "other");
    git(here, "pack-refs", "--all");
    await land(here, draftOf(here, COMMIT));
    expect(git(here, "log", "--format=%s", "main")).toBe("second\nfirst");
    expect(git(here, "log", "--format=%s", "other")).toBe("first");
    expectSound();
  });

  test("in a repository without a commit yet", async () => {
    git(here, "checkout", "-q", "--orphan", "fresh");
    git(here, "rm", "-q", "-r", "--cached", ".");
    await land(here, draftOf(here, "git add a.txt; git commit -q -m root"));
    expect(git(here, "log", "--format=%s", "fresh")).toBe("root");
    expectSound("?? folder/");
  });

  test("with SHA-256 ids", async () => {
    here = gitFixture("sha256");
    folders.push(here.folder);
    await land(here, draftOf(here, COMMIT));
    expect(git(here, "rev-parse", "main")).toHaveLength(64);
    expectSound();
  });

  test("with names that need quotes, and one that is not UTF-8 in the index alone", async () => {
    const name = `"$(printf 'caf\\351')"`;
    const blob = `$(git rev-parse HEAD:a.txt)`;
    await land(
      here,
      draftOf(here, `echo x > 'a "b$'; git add .; git update-index --add --cacheinfo 100644,${blob},${name}`),
    );
    expect(git(here, "ls-files")).toBe('"a \\"b$"\na.txt\n"caf\\351"\nfolder/b.txt');
  });
});

describe("branches", () => {
  test("a new one, a deleted one, a renamed one", async () => {
    git(here, "branch", "old");
    git(here, "branch", "gone");
    await land(here, draftOf(here, "git branch new; git branch -q -D gone; git branch -m old older"));
    expect(git(here, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/heads/new\nrefs/heads/older");
    expectSound();
  });

  test("a checkout moves HEAD, index and files, and `checkout -` goes back", async () => {
    git(here, "checkout", "-q", "-b", "feature");
    write(here.root, "a.txt", "feature\n");
    git(here, "commit", "-q", "-a", "-m", "feature");
    git(here, "checkout", "-q", "main");
    const result = await land(here, draftOf(here, "git checkout -q feature"));
    expect(result.steps).toEqual(["head", "index"]);
    expect(git(here, "symbolic-ref", "HEAD")).toBe("refs/heads/feature");
    expect(readFileSync(join(here.root, "a.txt"), "utf8")).toBe("feature\n");
    expectSound();
    git(here, "checkout", "-q", "-");
    expect(git(here, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  test("a detached HEAD, and a branch without a commit", async () => {
    await land(here, draftOf(here, "git checkout -q --detach; git commit -q --allow-empty -m loose"));
    expect(git(here, "log", "--format=%s", "HEAD")).toBe("loose\nfirst");
    await land(here, draftOf(here, "git checkout -q --orphan unborn"));
    expect(git(here, "symbolic-ref", "HEAD")).toBe("refs/heads/unborn");
  });

  test("a fast-forward merge, and one with two parents", async () => {
    const side = "git checkout -q -b side; echo side > s.txt; git add .; git commit -q -m side; git checkout -q main";
    await land(here, draftOf(here, `${side}; git merge -q side`));
    expect(git(here, "rev-parse", "main")).toBe(git(here, "rev-parse", "side"));
    const two = `git checkout -q side; echo 2 > s2.txt; git add .; git commit -q -m 2; git checkout -q main; ${COMMIT}`;
    await land(here, draftOf(here, `${two}; git merge -q --no-edit side`));
    expect(git(here, "rev-list", "--parents", "-1", "main").split(" ")).toHaveLength(3);
    expectSound();
  });

  test("a completed rebase", async () => {
    const topic = "git checkout -q -b topic; echo t > t.txt; git add .; git commit -q -m topic; git checkout -q main";
    await land(here, draftOf(here, `${topic}; ${COMMIT}; git rebase -q main topic`));
    expect(git(here, "log", "--format=%s", "topic")).toBe("topic\nsecond\nfirst");
    expectSound();
  });
});

describe("other refs", () => {
  test("tags with and without an object, notes, remotes", async () => {
    const script =
      "git tag light; git tag -a -m about heavy; git notes add -m note; git update-ref refs/remotes/o/m HEAD";
    await land(here, draftOf(here, script));
    expect(git(here, "cat-file", "-t", "heavy")).toBe("tag");
    expect(git(here, "notes", "show")).toBe("note");
    expect(git(here, "rev-parse", "refs/remotes/o/m")).toBe(git(here, "rev-parse", "HEAD"));
    expectSound();
  });

  test("every stash of the draft comes on top of the person's own", async () => {
    write(here.root, "a.txt", "mine\n");
    git(here, "stash", "push", "-q", "-m", "mine");
    const push = (name: string): string => `echo ${name} > a.txt; git stash push -q -m ${name}`;
    await land(here, draftOf(here, `${push("red")}; ${push("blue")}`));
    expect(git(here, "stash", "list", "--format=%gs")).toBe("On main: blue\nOn main: red\nOn main: mine");
    git(here, "stash", "apply", "-q", "stash@{1}");
    expect(readFileSync(join(here.root, "a.txt"), "utf8")).toBe("red\n");
  });

  test("a stash that the draft popped stays in the list, and is named", async () => {
    for (const name of ["red", "blue"]) {
      write(here.root, "a.txt", `${name}\n`);
      git(here, "stash", "push", "-q", "-m", name);
    }
    const outcome = await prepare(here, draftOf(here, "git stash pop -q"));
    expect(outcome).toEqual({ kind: "nothing", notCarried: ["refs/stash"] });
    expect(git(here, "stash", "list", "--format=%gs")).toBe("On main: blue\nOn main: red");
  });
});

describe("housekeeping in the draft", () => {
  test("a repack of everything lands only new objects", async () => {
    const packs = (): number => namesBelow(join(here.root, ".git/objects")).filter((name) => /pack$/.test(name)).length;
    const result = await land(here, draftOf(here, `${COMMIT}; git gc -q --prune=now; git repack -q -a -d -f`));
    expect(result.objects).toBe(3);
    expect(packs()).toBe(2);
    expect(git(here, "log", "--format=%s")).toBe("second\nfirst");
    expectSound();
  });

  test("a gc without a new commit lands nothing", async () => {
    expect(await prepare(here, draftOf(here, "git gc -q --prune=now"))).toEqual({
      kind: "nothing",
      notCarried: [],
    });
    expectSound();
  });

  test("a staged file lands in the index with its content", async () => {
    await land(here, draftOf(here, "echo staged > s.txt; git add s.txt"));
    expect(git(here, "show", ":s.txt")).toBe("staged");
    expectSound("A  s.txt");
  });

  test("a conflict of a stash lands with its three sides", async () => {
    write(here.root, "a.txt", "stashed\n");
    git(here, "stash", "push", "-q");
    await land(here, draftOf(here, "echo other > a.txt; git commit -q -a -m other; git stash apply -q || true"));
    expect(git(here, "ls-files", "-u").split("\n")).toHaveLength(3);
    expectSound("UU a.txt");
  });

  test("configuration, hooks and remotes are never imported, and are named", async () => {
    const script = `${COMMIT}; git config core.fsmonitor ./x; echo x > .git/hooks/post-commit; echo '* -text' > .git/info/attributes`;
    const outcome = await prepare(here, draftOf(here, script));
    if (outcome.kind !== "prepared") throw new Error(outcome.kind);
    expect([...outcome.prepared.plan.notCarried].sort()).toEqual(["config", "hooks/post-commit", "info/attributes"]);
    await outcome.prepared.commit();
    expect(git(here, "config", "--list", "--local")).not.toContain("fsmonitor");
    expect(existsSync(join(here.root, ".git/hooks/post-commit"))).toBe(false);
    expect(existsSync(join(here.root, ".git/info/attributes"))).toBe(false);
  });
});
