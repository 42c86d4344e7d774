// Linked worktrees and submodules through the real command line: git works inside, and commits land in the person's repository.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { linkedWorktree, mainFolder, mainRepository, personSays } from "../draft/linked-project.ts";
import { DraftMachine, DraftProject } from "../draft/project.ts";
import { CALLERS } from "../house/callers.ts";

const machine = new DraftMachine();

const USER = CALLERS[0] ?? 0;
const COMMIT = "echo two > b.txt && git add b.txt && git commit -q -m second";

let fixture: DraftProject;
beforeEach(() => {
  fixture = new DraftProject(USER, undefined, machine);
});
afterEach(() => fixture.end());

const person = (...words: readonly string[]): string => personSays(fixture, ...words);
const main = (): string => mainFolder(fixture);

describe("a linked worktree as the root", () => {
  beforeEach(() => linkedWorktree(fixture));

  test("status and log work inside, and leave nothing behind", () => {
    const { output, changes } = fixture.shell(
      "git status --porcelain && git log --format=%s && git branch --show-current",
    );
    expect(output).toBe("first\nfeature\n");
    expect(changes?.kept ?? []).toEqual([]);
    expect(readFileSync(join(fixture.project, ".git"), "utf8")).toMatch(/^gitdir: .*\/worktrees\/project\n$/);
  });

  test("a commit lands in the common repository, and the worktree is clean", () => {
    const result = fixture.shell(COMMIT);
    expect([result.errors, result.changes?.kept]).toEqual(["", []]);
    expect(person("git", "log", "--format=%s")).toBe("second\nfirst");
    expect(person("git", "-C", main(), "log", "--format=%s", "feature")).toBe("second\nfirst");
    expect(person("git", "-C", main(), "log", "--format=%s", "main")).toBe("first");
    expect(person("git", "status", "--porcelain")).toBe("");
    expect(person("git", "-C", main(), "fsck", "--strict")).toBe("");
    expect(person("git", "rev-parse", "--abbrev-ref", "HEAD")).toBe("feature");
  });

  test("two commands in a row: the second sees the commit of the first", () => {
    fixture.shell(COMMIT);
    const { output } = fixture.shell("git log --format=%s; echo three > c.txt; git add c.txt; git commit -q -m third");
    expect(output).toBe("second\nfirst\n");
    expect(person("git", "log", "--format=%s")).toBe("third\nsecond\nfirst");
  });

  test("branches are created, switched and deleted as usual", () => {
    fixture.shell("git checkout -q -b other && echo x > x.txt && git add x.txt && git commit -q -m other");
    expect(person("git", "rev-parse", "--abbrev-ref", "HEAD")).toBe("other");
    expect(person("git", "log", "--format=%s", "other")).toBe("other\nfirst");
    const { changes } = fixture.shell("git branch -q -D feature");
    expect(changes?.kept).toEqual([]);
    expect(person("git", "branch", "--format=%(refname:short)")).toBe("main\nother");
  });

  test("configuration, hooks and alternates of the private folder never land", () => {
    const before = readFileSync(join(main(), ".git", "config"), "utf8");
    const { changes } = fixture.shell(
      "git config core.fsmonitor ./evil; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; echo /etc > .git/objects/info/alternates",
    );
    expect(changes?.kept.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
      ".git/config self_modification",
      ".git/hooks/post-checkout self_modification",
      ".git/objects/info/alternates self_modification",
    ]);
    expect(readFileSync(join(main(), ".git", "config"), "utf8")).toBe(before);
    expect(existsSync(join(main(), ".git", "hooks", "post-checkout"))).toBe(false);
    expect(existsSync(join(main(), ".git", "objects", "info", "alternates"))).toBe(false);
  });

  test("a branch checked out in the main worktree does not move", () => {
    const { changes } = fixture.shell("git branch -f main $(git commit-tree -m x HEAD^{tree} -p HEAD)");
    expect(changes?.kept[0]?.reason).toContain("refs/heads/main is checked out in a linked worktree");
    expect(person("git", "-C", main(), "log", "--format=%s", "main")).toBe("first");
  });

  test("a concurrent commit of the person is a conflict, and both are kept", async () => {
    const held = await fixture.hold(COMMIT);
    person("git", "commit", "-q", "--allow-empty", "-m", "mine");
    await held.release();
    expect(person("git", "log", "--format=%s")).toBe("mine\nfirst");
    const [draft] = fixture.drafts();
    expect(draft).toMatchObject({ state: "kept" });
  });

  test("a commit that adds a trigger waits for approval", () => {
    const { changes } = fixture.shell(
      "mkdir .vscode; echo '{}' > .vscode/tasks.json; git add -f .vscode; git commit -q -m evil",
    );
    expect(changes?.kept.some(({ path, code }) => path === ".git" && code === "approval_required")).toBe(true);
    expect(person("git", "log", "--format=%s")).toBe("first");
  });

  test("the `.git` file itself cannot be replaced", () => {
    const before = readFileSync(join(fixture.project, ".git"), "utf8");
    const { changes } = fixture.shell("rm -rf .git; echo 'gitdir: /tmp/evil' > .git");
    expect(changes?.kept.length).toBeGreaterThan(0);
    expect(readFileSync(join(fixture.project, ".git"), "utf8")).toBe(before);
  });

  test("the main worktree's git folder is not visible inside, only objects to read", () => {
    const git = join(main(), ".git");
    const { output } = fixture.shell(`ls ${git}; cat ${git}/config; touch ${git}/objects/x || echo refused`);
    expect(output).toBe("objects\nrefused\n");
    expect(existsSync(join(git, "objects", "x"))).toBe(false);
  });
});

test("trust and the git tool work in a linked worktree", () => {
  fixture.end();
  fixture = new DraftProject(
    USER,
    [
      "---",
      "id: writer",
      "sandbox: .",
      "capabilities:",
      "  - fs.read",
      "  - proc.exec: { cmds: [git] }",
      "---",
      "",
    ].join("\n"),
    machine,
  );
  linkedWorktree(fixture);
  expect(fixture.ambit(["trust", "--yes"]).status).toBe(0);
  const { out, err } = fixture.ambit(["call", "writer", "git", '{"command":"log"}', "--json"]);
  expect([out, err]).toEqual([expect.stringContaining("first"), ""]);
});

test("a read-only root that is a linked worktree sees the repository and cannot change it", () => {
  fixture.end();
  fixture = new DraftProject(
    USER,
    ["---", "id: writer", "capabilities:", "  - proc.exec: { cmds: [git], in: ., root: ro }", "---", ""].join("\n"),
    machine,
  );
  linkedWorktree(fixture);
  const run = (...words: readonly string[]): { readonly output: string; readonly errors: string } =>
    JSON.parse(fixture.ambit(["exec", "writer", "--json", "--", ...words]).out);
  expect(run("git", "log", "--format=%s").output).toBe("first\n");
  expect(run("git", "branch", "x").errors).toContain("Read-only file system");
  expect(person("git", "branch", "--list", "x")).toBe("");
});

describe("a `.git` file that leads elsewhere", () => {
  test("to a repository that does not name this folder: nothing of that repository is visible", () => {
    mainRepository(fixture);
    writeFileSync(join(fixture.project, ".git"), `gitdir: ${join(main(), ".git")}\n`);
    fixture.own();
    const { output, errors } = fixture.shell(`git log --format=%s; ls -A ${fixture.base} | grep main || echo absent`);
    expect([output, errors]).toEqual(["absent\n", expect.stringContaining("not a git repository")]);
  });

  test("to a worktree entry of another folder", () => {
    mainRepository(fixture);
    person("git", "-C", main(), "worktree", "add", "-q", "-b", "feature", join(fixture.base, "feature"));
    writeFileSync(join(fixture.project, ".git"), `gitdir: ${join(main(), ".git/worktrees/feature")}\n`);
    fixture.own();
    const { errors } = fixture.shell("git log --format=%s");
    expect(errors).toContain("not a git repository");
  });

  test("with a commondir that leads out to a third repository", () => {
    linkedWorktree(fixture);
    const third = join(fixture.base, "third");
    person("git", "init", "-q", third);
    writeFileSync(join(main(), ".git/worktrees/project/commondir"), `${join(third, ".git")}\n`);
    fixture.own();
    const { errors } = fixture.shell("git status; true");
    expect(errors).toContain("not a git repository");
  });
});

describe("a linked worktree below the root", () => {
  beforeEach(() => {
    fixture.repository();
    person("git", "worktree", "add", "-q", "-b", "feature", "wt");
    writeFileSync(join(fixture.project, ".git", "info", "exclude"), ".ambit\nwt\n");
    fixture.own();
  });

  test("a commit in it lands with its branch and its own index", () => {
    const result = fixture.shell(`cd wt && ${COMMIT}`);
    expect([result.errors, result.changes?.kept]).toEqual(["", []]);
    expect(person("git", "-C", "wt", "log", "--format=%s")).toBe("second\nfirst");
    expect(person("git", "-C", "wt", "status", "--porcelain")).toBe("");
    expect(person("git", "log", "--format=%s")).toBe("first");
    expect(person("git", "status", "--porcelain")).toBe("");
    expect(person("git", "fsck", "--strict")).toBe("");
  });

  test("its branch does not move from outside of it", () => {
    const { changes } = fixture.shell("git update-ref refs/heads/feature $(git commit-tree -m x HEAD^{tree} -p HEAD)");
    expect(changes?.kept[0]?.reason).toContain("refs/heads/feature is checked out in a linked worktree");
    expect(person("git", "log", "--format=%s", "feature")).toBe("first");
  });

  test("a new worktree and one whose `gitdir` a program changes do not land", () => {
    const file = join(fixture.project, ".git/worktrees/wt/gitdir");
    const before = readFileSync(file, "utf8");
    const { changes } = fixture.shell(
      "echo /tmp/evil/.git > .git/worktrees/wt/gitdir; git worktree add -q -b more more",
    );
    expect(changes?.kept.map(({ path }) => path)).toContain(".git/worktrees/wt/gitdir");
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(existsSync(join(fixture.project, ".git/worktrees/more"))).toBe(false);
    expect(existsSync(join(fixture.project, "more/.git"))).toBe(false);
  });
});

describe("a submodule", () => {
  const inside = (): string => join(fixture.project, "sub");

  function withSubmodule(): void {
    mainRepository(fixture);
    fixture.repository();
    person("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", main(), "sub");
    person("git", "commit", "-q", "-m", "add sub");
  }

  test("below the root: a commit in it lands in its own git folder", () => {
    withSubmodule();
    const result = fixture.shell(`cd sub && ${COMMIT}`);
    expect([result.errors, result.changes?.kept]).toEqual(["", []]);
    expect(person("git", "-C", inside(), "log", "--format=%s")).toBe("second\nfirst");
    expect(person("git", "-C", inside(), "status", "--porcelain")).toBe("");
    expect(person("git", "status", "--porcelain", "--ignore-submodules=none")).toContain("M sub");
  });

  test("below the root: commits in both land together", () => {
    withSubmodule();
    const result = fixture.shell(`cd sub && ${COMMIT} && cd .. && git commit -q -am bump`);
    expect([result.errors, result.changes?.kept]).toEqual(["", []]);
    expect(person("git", "log", "--format=%s", "-1")).toBe("bump");
    expect(person("git", "status", "--porcelain", "--ignore-submodules=none")).toBe("?? .ambit/");
  });

  test("whose hooks and settings a program writes: they do not land", () => {
    withSubmodule();
    const { changes } = fixture.shell(
      "cd sub && git config core.fsmonitor ./evil && echo x > ../.git/modules/sub/hooks/evil",
    );
    expect(changes?.kept.map(({ path }) => path).sort()).toEqual([
      ".git/modules/sub/config",
      ".git/modules/sub/hooks/evil",
    ]);
  });

  test("whose name leads out of `modules`: nothing lands for it", () => {
    withSubmodule();
    const { changes } = fixture.shell(
      "mkdir -p .git/modules/x && cp -r .git/modules/sub .git/modules/x/y; rm -f sub/.git; echo 'gitdir: ../.git/modules/x/../x/y' > sub/.git",
    );
    expect(changes?.kept.length).toBeGreaterThan(0);
    expect(existsSync(join(fixture.project, ".git/modules/x"))).toBe(false);
    expect(readFileSync(join(inside(), ".git"), "utf8")).toBe("gitdir: ../.git/modules/sub\n");
  });
});
