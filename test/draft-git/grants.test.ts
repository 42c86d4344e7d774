// A commit needs what its files need: the paths it changes are decided by the same grants, when it lands.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { DraftMachine, DraftProject, type ShellResult, WRITER } from "../draft/project.ts";
import { CALLERS } from "../house/callers.ts";
import { holdsWithin } from "../house/until.ts";

const machine = new DraftMachine();

const WITHOUT_DELETE = WRITER.replace("  - fs.delete\n", "");

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    afterEach(() => fixture.end());

    const start = (record: string): void => {
      fixture = new DraftProject(user, record, machine);
      fixture.repository();
    };
    const git = (...words: readonly string[]): string => fixture.person("git", ...words).out.trim();
    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const states = (): readonly string[] => fixture.drafts("--all").map(({ state }) => state);

    test.each([
      ["a commit", "git rm -q a.txt; git commit -qm gone"],
      ["a commit that another one takes back", "git rm -q a.txt; git commit -qm gone; git revert --no-edit HEAD >&2"],
      ["the index", "git rm -q --cached a.txt"],
      [
        "a branch that is not checked out",
        "git checkout -q -b side; git rm -q a.txt; git commit -qm x; git checkout -q main",
      ],
    ])("%s that deletes a file needs leave to delete, and a later yes does not replace it", (_, line) => {
      start(WITHOUT_DELETE);
      const before = git("for-each-ref");
      const result = fixture.shell(line);
      expect(codes(result)).toContain(".git capability_absent");
      expect(result.changes?.kept.find(({ path }) => path === ".git")?.reason).toContain("a.txt");
      fixture.changes("land", result.changes?.draft ?? "", "--yes");
      expect([git("for-each-ref"), fixture.read("a.txt")]).toEqual([before, "one\n"]);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    /** `other` deletes `secret/x` and adds `src/y`. */
    const branches = (record: string): void => {
      start(record);
      fixture.write("secret/x", "kept\n");
      git("add", "secret");
      git("commit", "-qm", "secret");
      git("checkout", "-qb", "other");
      git("rm", "-q", "secret/x");
      fixture.write("src/y", "new\n");
      git("add", "src");
      git("commit", "-qm", "gone");
      git("checkout", "-q", "main");
    };
    const merge = "M=$(git commit-tree other^{tree} -p main -p other -m m)";

    test.each([
      ["a new branch", `${merge}; git update-ref refs/heads/feature $M`],
      ["a tag", `${merge}; git tag t $M`],
      ["a stash", `${merge}; git stash store -m m $M`],
      [
        "a merge of three",
        "N=$(git commit-tree main^{tree} -p main -m n); M=$(git commit-tree other^{tree} -p main -p other -p $N -m m); git branch feature $M",
      ],
      ["HEAD at another branch", "git symbolic-ref HEAD refs/heads/other"],
      ["HEAD at a new branch", "git branch feature other; git symbolic-ref HEAD refs/heads/feature"],
      ["a detached HEAD", "git update-ref --no-deref HEAD other"],
      ["a branch that moves", "git update-ref refs/heads/main other"],
      ["a merge", "git merge -q --no-ff --no-edit other || true"],
    ])("%s with a deletion that no grant covers stays, with the verb in its reason", (_, line) => {
      branches(WITHOUT_DELETE.replace("  - fs.write\n", "  - fs.write\n  - fs.delete: { in: src }\n"));
      const before = [git("for-each-ref"), git("symbolic-ref", "HEAD"), git("stash", "list")];
      const { changes } = fixture.shell(line);
      const kept = changes?.kept.find(({ path }) => path === ".git");
      expect(kept).toMatchObject({
        code: "scope_violation",
        reason: expect.stringContaining("fs.delete of this path: secret/x"),
      });
      expect([git("for-each-ref"), git("symbolic-ref", "HEAD"), git("stash", "list")]).toEqual(before);
      expect([git("status", "--porcelain", "--untracked-files=no"), fixture.read("secret/x")]).toEqual(["", "kept\n"]);
    });

    test.each([
      ["two", ""],
      ["three", "-p $(git commit-tree early^{tree} -p early -m n)"],
    ])("a merge of %s that takes back a file of main stays: merging it would delete the file", (_, more) => {
      start(WITHOUT_DELETE);
      git("branch", "early");
      fixture.write("b.txt", "two\n");
      git("add", "b.txt");
      git("commit", "-qm", "more");
      const before = git("for-each-ref");
      const { changes } = fixture.shell(
        `git branch feature $(git commit-tree early^{tree} -p early -p main ${more} -m m)`,
      );
      const kept = changes?.kept.find(({ path }) => path === ".git");
      expect(kept).toMatchObject({
        code: "capability_absent",
        reason: expect.stringContaining("fs.delete of this path: b.txt"),
      });
      expect(git("for-each-ref")).toBe(before);
    });

    test("HEAD at a branch with more files than the index needs leave to delete: the next commit would delete them", () => {
      start(WITHOUT_DELETE);
      git("checkout", "-qb", "more");
      fixture.write("b.txt", "two\n");
      git("add", "b.txt");
      git("commit", "-qm", "more");
      git("checkout", "-q", "main");
      const result = fixture.shell("git symbolic-ref HEAD refs/heads/more");
      expect(result.changes?.kept.find(({ path }) => path === ".git")?.reason).toContain(
        "fs.delete of this path: b.txt",
      );
      expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
      expect(codes(fixture.shell("git checkout -q more"))).toEqual([]);
      expect([git("symbolic-ref", "HEAD"), git("status", "--porcelain", "--untracked-files=no")]).toEqual([
        "refs/heads/more",
        "",
      ]);
    });

    test("a merge of main, a rebase, a switch, a new branch and a stash need no more than the paths they change", () => {
      start(WITHOUT_DELETE);
      const commit = (name: string): string => `echo 1 > ${name}; git add ${name}; git commit -qm ${name}`;
      const lines = [
        `git checkout -qb feature; ${commit("b.txt")}`,
        `git checkout -qb topic; ${commit("c.txt")}`,
        "git branch here",
        "echo 2 > a.txt; git stash -q",
        "echo 3 > a.txt; echo 3 > untracked; git stash push -q -u -- a.txt untracked",
      ];
      for (const line of lines) expect([line, codes(fixture.shell(line))]).toEqual([line, []]);
      fixture.person("sh", "-c", `git checkout -q main; ${commit("d.txt")}; git checkout -q topic`);
      expect(codes(fixture.shell("git merge -q --no-edit main"))).toEqual([]);
      expect(git("log", "-1", "--format=%s")).toBe("Merge branch 'main' into topic");
      expect(codes(fixture.shell("git rebase -q main"))).toEqual([]);
      expect(git("log", "--format=%s")).toBe("c.txt\nb.txt\nd.txt\nfirst");
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    test("a later deletion of a path that waits is decided by itself", () => {
      start(WITHOUT_DELETE);
      const before = git("for-each-ref");
      const result = fixture.shell(
        "echo x > .envrc; git add .envrc; git commit -qm 1; git rm -q .envrc; git commit -qm 2",
      );
      fixture.changes("land", result.changes?.draft ?? "", "--yes");
      expect(result.changes?.kept.find(({ path }) => path === ".git")?.reason).toContain(
        "fs.delete of this path: .envrc",
      );
      expect(git("for-each-ref")).toBe(before);
    });

    test.each([
      ["a commit", "echo 1 > b.txt; git add b.txt; git commit -qm late"],
      ["a tag alone", "git tag late"],
    ])("%s of a session that has ended stays, with its files", async (_, line) => {
      start(WRITER);
      const before = git("for-each-ref");
      const words = fixture.command(["exec", "writer", "--shell", "--", `${line}; echo ready; read -r word`]);
      const client = spawn(...words, {
        cwd: fixture.project,
        env: fixture.environment,
        stdio: ["pipe", "pipe", "ignore"],
      });
      await once(client.stdout, "data");
      client.kill("SIGKILL");
      await holdsWithin(60_000, () => states().some((state) => state !== "running"), 100);
      expect(states()).toEqual(["kept"]);
      expect([git("for-each-ref"), fixture.read("b.txt")]).toEqual([before, null]);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });
  });
