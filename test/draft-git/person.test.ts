// A person who uses git while a program commits, or while its commit waits: what git only rewrites is no conflict, what
// the person changed is, and neither of the two loses a commit.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DraftMachine, DraftProject, type Result } from "../draft/project.ts";
import { root } from "../e2e/ambit.ts";
import { CALLERS } from "../house/callers.ts";

const machine = new DraftMachine();

const AMBIT = join(root, "bin", "ambit");
const COMMIT = "echo agent > b.txt; git add b.txt; git commit -qm agent";

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user, undefined, machine);
      fixture.repository();
    });
    afterEach(() => fixture.end());

    const git = (...words: readonly string[]): string => fixture.person("git", ...words).out.trim();
    const shell = (line: string): unknown => fixture.person("sh", "-c", line);
    const reasons = (): readonly string[] => {
      return fixture.drafts().flatMap(({ kept }) => kept.map(({ path, reason }) => `${path}: ${reason}`));
    };

    test.each([
      ["refreshes the index", "touch a.txt; git status"],
      ["stashes an edit", "echo mine > a.txt; git stash -q"],
      ["goes to another branch and back", "git checkout -q -b side; git checkout -q main"],
      ["resets to the same commit", "git reset -q --hard HEAD"],
      ["packs refs and objects", "git gc -q"],
      ["edits another file", "echo mine > c.txt"],
    ])("who %s while a program commits: the commit lands", async (_, line) => {
      const held = await fixture.hold(COMMIT);
      shell(line);
      await held.release();
      expect(reasons()).toEqual([]);
      expect(git("log", "--format=%s", "main")).toBe("agent\nfirst");
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
      expect(fixture.read("b.txt")).toBe("agent\n");
      expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    });

    test.each([
      ["commits", "git commit -q --allow-empty -m mine", "mine\nfirst"],
      ["amends", "git commit -q --amend --allow-empty -m mine", "mine"],
      ["stages a file", "echo mine > c.txt; git add c.txt", "first"],
      ["switches to a new branch", "git checkout -q -b side", "first"],
      ["rebases", "git commit -q --allow-empty -m one; git rebase -q --root --exec true", "one\nfirst"],
    ])(
      "who %s while a program commits: it stays a draft with the reason, and nothing is lost",
      async (_, line, log) => {
        const held = await fixture.hold(COMMIT);
        shell(line);
        const staged = git("diff", "--cached", "--name-only");
        await held.release();
        expect(reasons()[0]).toMatch(/^\.git: .* changed /);
        expect(git("log", "--format=%s")).toBe(log);
        expect(git("diff", "--cached", "--name-only")).toBe(staged);
        expect(fixture.read("b.txt")).toBeNull();
        const [draft] = fixture.drafts();
        expect(fixture.changes("show", draft?.draft ?? "").out).toContain("b.txt");
      },
    );

    test("a commit that waits for review lands after the person's git has rewritten HEAD and index", () => {
      const { changes } = fixture.shell(COMMIT, "--review");
      shell("sleep 0.1; touch a.txt; git status; git checkout -q -b side; git checkout -q main; git gc -q");
      expect(fixture.changes("land", changes?.draft ?? "", "--yes")).toMatchObject({ status: 0 });
      expect(git("log", "--format=%s")).toBe("agent\nfirst");
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    test("in a linked worktree the same: a refresh is no conflict", () => {
      const tree = new DraftProject(user, undefined, machine);
      try {
        git("worktree", "add", "-q", "-b", "side", `${tree.project}/tree`);
        const record = tree.read(".ambit/agents/writer.md") ?? "";
        tree.write("tree/.ambit/agents/writer.md", record);
        const inside = (...words: readonly string[]): Result => tree.person("env", "-C", "tree", ...words);
        const ambit = (...words: readonly string[]): Result => inside(process.execPath, AMBIT, ...words);
        expect(ambit("trust", "--yes").status).toBe(0);
        const ran = ambit("exec", "writer", "--review", "--json", "--shell", "--", COMMIT);
        const { changes } = JSON.parse(ran.out) as { changes: { draft: string } };
        inside("sh", "-c", "sleep 0.1; touch a.txt; git status");
        expect(ambit("changes", "land", changes.draft, "--yes")).toMatchObject({ status: 0 });
        expect(inside("git", "log", "--format=%s").out).toBe("agent\nfirst\n");
      } finally {
        tree.end();
      }
    });
  });
