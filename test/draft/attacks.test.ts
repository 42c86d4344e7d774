// Attacks on landing that once worked: each left a trigger, lost a person's data, or gave a false report.
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftMachine, DraftProject, type ShellResult } from "./project.ts";

const machine = new DraftMachine();

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user, undefined, machine);
      fixture.repository();
    });
    afterEach(() => fixture.end());

    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const git = (...words: readonly string[]): string => fixture.person("git", ...words).out.trim();
    const settings = (): string =>
      `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "touch ${fixture.base}/marker; false"\\n' > x/config`;

    test("a commit that contains a bare repository waits, in one commit or in two", () => {
      const whole = `git checkout -qb evil; mkdir -p x/objects x/refs; touch x/objects/k x/refs/k; echo 'ref: refs/heads/main' > x/HEAD; ${settings()}; git add -f x; git commit -qm x; git checkout -q main`;
      expect(codes(fixture.shell(whole))).toEqual([".git approval_required"]);
      const half = `git checkout -qb half; mkdir -p x; ${settings()}; echo 'ref: refs/heads/main' > x/HEAD; git add -f x; git commit -qm x; git checkout -q main`;
      expect(codes(fixture.shell(half))).toEqual([".git approval_required"]);
      expect(git("branch", "--format=%(refname:short)")).toBe("main");
    });

    test("a tag that names a tree does not land: no commit would show what is in it", () => {
      const line =
        "mkdir .vscode; echo 1 > .vscode/tasks.json; git add -f .vscode; T=$(git write-tree); git reset -q; rm -r .vscode; git tag v2 $T; git tag -a -m x v3 $T";
      expect(codes(fixture.shell(line))).toEqual([".git not_landed"]);
      expect(git("tag")).toBe("");
    });

    test("a branch whose commits have no other reference, a tag and a stash are not deleted without approval", () => {
      git("checkout", "-q", "-b", "side");
      git("commit", "-q", "--allow-empty", "-m", "side");
      git("checkout", "-q", "main");
      git("branch", "merged");
      git("tag", "v1");
      fixture.write("a.txt", "stashed\n");
      git("stash", "-q");
      const before = git("for-each-ref");
      expect(codes(fixture.shell("git branch -qD side"))).toEqual([".git approval_required"]);
      expect(codes(fixture.shell("git tag -d v1"))).toEqual([".git approval_required"]);
      expect(codes(fixture.shell("git stash drop -q"))).toContain(".git/refs/stash self_modification");
      expect(git("for-each-ref")).toBe(before);
      expect(codes(fixture.shell("git branch -qd merged"))).toEqual([]);
      expect(git("branch", "--format=%(refname:short)")).toBe("main\nside");
    });

    test("an approved deletion of a branch lands", () => {
      git("checkout", "-q", "-b", "side");
      git("commit", "-q", "--allow-empty", "-m", "side");
      git("checkout", "-q", "main");
      const { changes } = fixture.shell("git branch -qD side");
      expect(fixture.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(git("branch", "--format=%(refname:short)")).toBe("main");
    });

    test("a link whose target goes up behind a name waits: another draft could make a link of that name", () => {
      expect(codes(fixture.shell("ln -s y/../outside x"))).toEqual(["x approval_required"]);
      expect(codes(fixture.shell("ln -s . y; ln -s ../a.txt y/b; mkdir d; ln -s ../a.txt d/c"))).toEqual([
        "b self_modification",
      ]);
      expect(lstatSync(join(fixture.project, "d/c")).isSymbolicLink()).toBe(true);
    });

    test("an undo does not complete a bare repository", () => {
      fixture.shell("mkdir -p x/objects; touch x/objects/k; echo 'ref: refs/heads/main' > x/HEAD");
      const { changes } = fixture.shell("rm x/HEAD");
      fixture.shell(`mkdir x/refs; touch x/refs/k; ${settings()}`);
      const undone = fixture.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.err).toContain("self_modification");
      expect(existsSync(join(fixture.project, "x/HEAD"))).toBe(false);
      fixture.person("git", "-C", "x", "status");
      expect(existsSync(join(fixture.base, "marker"))).toBe(false);
    });

    test("an undo reverts a commit together with its files", () => {
      const before = git("rev-parse", "HEAD");
      const { changes } = fixture.shell("echo two >> a.txt; git commit -qam second");
      expect(git("rev-parse", "HEAD")).not.toBe(before);
      expect(fixture.ambit(["undo", changes?.draft ?? ""]).status).toBe(0);
      expect(git("rev-parse", "HEAD")).toBe(before);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    test("a command with long names in its report is reported correctly", () => {
      const long =
        "n=$(printf '\\001%.0s' $(seq 250)); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir $n; cd $n; done; for i in $(seq 120); do mkdir k$i; echo x > k$i/.envrc; done";
      const { outcome, changes } = fixture.shell(`echo x > free.txt; ${long}`);
      expect([outcome, changes?.landed, fixture.read("free.txt")]).toEqual(["ran", 1, "x\n"]);
      expect(fixture.changes("list").status).toBe(0);
      expect(fixture.changes("discard", changes?.draft ?? "", "--yes", "--json").status).toBe(0);
    });
  });
