// Attacks on landing that once worked: each left a trigger, lost a person's data, or gave a false report.
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftMachine, DraftWorld, type ShellResult } from "./world.ts";

const machine = new DraftMachine();

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let world: DraftWorld;
    beforeEach(() => {
      world = new DraftWorld(user, undefined, machine);
      world.repository();
    });
    afterEach(() => world.end());

    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const git = (...words: readonly string[]): string => world.person("git", ...words).out.trim();
    const settings = (): string =>
      `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "touch ${world.base}/marker; false"\\n' > x/config`;

    test("a commit that contains a bare repository waits, in one commit or in two", () => {
      const whole = `git checkout -qb evil; mkdir -p x/objects x/refs; touch x/objects/k x/refs/k; echo 'ref: refs/heads/main' > x/HEAD; ${settings()}; git add -f x; git commit -qm x; git checkout -q main`;
      expect(codes(world.shell(whole))).toEqual([".git approval_required"]);
      const half = `git checkout -qb half; mkdir -p x; ${settings()}; echo 'ref: refs/heads/main' > x/HEAD; git add -f x; git commit -qm x; git checkout -q main`;
      expect(codes(world.shell(half))).toEqual([".git approval_required"]);
      expect(git("branch", "--format=%(refname:short)")).toBe("main");
    });

    test("a tag that names a tree does not land: no commit would show what is in it", () => {
      const line =
        "mkdir .vscode; echo 1 > .vscode/tasks.json; git add -f .vscode; T=$(git write-tree); git reset -q; rm -r .vscode; git tag v2 $T; git tag -a -m x v3 $T";
      expect(codes(world.shell(line))).toEqual([".git not_landed"]);
      expect(git("tag")).toBe("");
    });

    test("a branch whose commits have no other reference, a tag and a stash are not deleted without approval", () => {
      git("checkout", "-q", "-b", "side");
      git("commit", "-q", "--allow-empty", "-m", "side");
      git("checkout", "-q", "main");
      git("branch", "merged");
      git("tag", "v1");
      world.write("a.txt", "stashed\n");
      git("stash", "-q");
      const before = git("for-each-ref");
      expect(codes(world.shell("git branch -qD side"))).toEqual([".git approval_required"]);
      expect(codes(world.shell("git tag -d v1"))).toEqual([".git approval_required"]);
      expect(codes(world.shell("git stash drop -q"))).toContain(".git/refs/stash self_modification");
      expect(git("for-each-ref")).toBe(before);
      expect(codes(world.shell("git branch -qd merged"))).toEqual([]);
      expect(git("branch", "--format=%(refname:short)")).toBe("main\nside");
    });

    test("an approved deletion of a branch lands", () => {
      git("checkout", "-q", "-b", "side");
      git("commit", "-q", "--allow-empty", "-m", "side");
      git("checkout", "-q", "main");
      const { changes } = world.shell("git branch -qD side");
      expect(world.changes("land", changes?.draft ?? "", "--yes").status).toBe(0);
      expect(git("branch", "--format=%(refname:short)")).toBe("main");
    });

    test("a link whose target goes up behind a name waits: another draft could make a link of that name", () => {
      expect(codes(world.shell("ln -s y/../outside x"))).toEqual(["x approval_required"]);
      expect(codes(world.shell("ln -s . y; ln -s ../a.txt y/b; mkdir d; ln -s ../a.txt d/c"))).toEqual([
        "b self_modification",
      ]);
      expect(lstatSync(join(world.project, "d/c")).isSymbolicLink()).toBe(true);
    });

    test("an undo does not complete a bare repository", () => {
      world.shell("mkdir -p x/objects; touch x/objects/k; echo 'ref: refs/heads/main' > x/HEAD");
      const { changes } = world.shell("rm x/HEAD");
      world.shell(`mkdir x/refs; touch x/refs/k; ${settings()}`);
      const undone = world.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.err).toContain("self_modification");
      expect(existsSync(join(world.project, "x/HEAD"))).toBe(false);
      world.person("git", "-C", "x", "status");
      expect(existsSync(join(world.base, "marker"))).toBe(false);
    });

    test("an undo reverts a commit together with its files", () => {
      const before = git("rev-parse", "HEAD");
      const { changes } = world.shell("echo two >> a.txt; git commit -qam second");
      expect(git("rev-parse", "HEAD")).not.toBe(before);
      expect(world.ambit(["undo", changes?.draft ?? ""]).status).toBe(0);
      expect(git("rev-parse", "HEAD")).toBe(before);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    test("a command with long names in its report is reported correctly", () => {
      const long =
        "n=$(printf '\\001%.0s' $(seq 250)); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir $n; cd $n; done; for i in $(seq 120); do mkdir k$i; echo x > k$i/.envrc; done";
      const { outcome, changes } = world.shell(`echo x > free.txt; ${long}`);
      expect([outcome, changes?.landed, world.read("free.txt")]).toEqual(["ran", 1, "x\n"]);
      expect(world.changes("list").status).toBe(0);
      expect(world.changes("discard", changes?.draft ?? "", "--yes", "--json").status).toBe(0);
    });
  });
