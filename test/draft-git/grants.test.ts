// A commit needs what its files need: the paths it changes are decided by the same grants, when it lands.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS, DraftWorld, type ShellResult, WRITER } from "../draft/world.ts";

const WITHOUT_DELETE = WRITER.replace("  - fs.delete\n", "");
const waitsMax = 100;

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let world: DraftWorld;
    afterEach(() => world.end());

    const start = (record: string): void => {
      world = new DraftWorld(user, record);
      world.repository();
    };
    const git = (...words: readonly string[]): string => world.person("git", ...words).out.trim();
    const codes = ({ changes }: ShellResult): readonly string[] =>
      (changes?.kept ?? []).map(({ path, code }) => `${path} ${code}`);
    const states = (): readonly string[] =>
      (JSON.parse(world.changes("list", "--all", "--json").out) as { drafts: { state: string }[] }).drafts.map(
        ({ state }) => state,
      );

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
      const result = world.shell(line);
      expect(codes(result)).toContain(".git capability_absent");
      expect(result.changes?.kept.find(({ path }) => path === ".git")?.reason).toContain("a.txt");
      world.changes("land", result.changes?.draft ?? "", "--yes");
      expect([git("for-each-ref"), world.read("a.txt")]).toEqual([before, "one\n"]);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });

    test.each([
      ["a commit", "echo 1 > b.txt; git add b.txt; git commit -qm late"],
      ["a tag alone", "git tag late"],
    ])("%s of a session that has ended stays, with its files", async (_, line) => {
      start(WRITER);
      const before = git("for-each-ref");
      const words = world.command(["exec", "writer", "--shell", "--", `${line}; echo ready; read -r word`]);
      const client = spawn(...words, { cwd: world.project, env: world.environment, stdio: ["pipe", "pipe", "ignore"] });
      await once(client.stdout, "data");
      client.kill("SIGKILL");
      for (let waits = 0; waits < waitsMax && (states().length === 0 || states().includes("running")); waits++)
        await setTimeout(100);
      expect(states()).toEqual(["kept"]);
      expect([git("for-each-ref"), world.read("b.txt")]).toEqual([before, null]);
      expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
    });
  });
