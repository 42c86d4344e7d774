// `ambit undo` reverts commits, refs, HEAD and index together with the files, through the real command line: all of it, or
// nothing if a person has worked since.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DraftMachine, DraftProject } from "../draft/project.ts";
import { CALLERS } from "../house/callers.ts";
import { sizeFor } from "../house/long.ts";
import { runSeed } from "../house/seed.ts";

const machine = new DraftMachine();

const COMMIT =
  "echo two > b.txt && echo more >> a.txt && git add a.txt b.txt && git commit -qm second && git branch side && git checkout -qb topic";
const canTrace = spawnSync("strace", ["-V"]).status === 0;

/** Everything a person sees of the repository, and that it is sound. */
/** Without optional locks: `git status` would write the index, which a pending draft takes for a change of the person. */
function view(fixture: DraftProject): string {
  const parts = [
    fixture.person("git", "symbolic-ref", "HEAD"),
    fixture.person("git", "for-each-ref"),
    fixture.person("git", "ls-files", "--stage"),
    fixture.person("git", "--no-optional-locks", "status", "--porcelain", "--", "a.txt", "b.txt"),
    fixture.person("git", "fsck", "--strict", "--no-dangling"),
  ];
  const locks = readdirSync(join(fixture.project, ".git"), { recursive: true, encoding: "utf8" });
  const files = [fixture.read("a.txt"), fixture.read("b.txt")];
  return [...parts.map(({ out }) => out), ...files, ...locks.filter((name) => name.endsWith(".lock"))].join("\n");
}

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user, undefined, machine);
      fixture.repository();
    });
    afterEach(() => fixture.end());

    test("files, commits, branches, HEAD and index are as before, and the same changes can be made again", () => {
      const before = view(fixture);
      const { changes } = fixture.shell(COMMIT);
      expect(changes?.kept).toEqual([]);
      expect(fixture.person("git", "log", "--format=%s", "topic").out).toBe("second\nfirst\n");
      expect(fixture.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(view(fixture)).toBe(before);
      expect(fixture.ambit(["undo", changes?.draft ?? ""]).err).toContain("has no landed changes to undo");
      expect(fixture.shell(COMMIT).changes?.kept).toEqual([]);
      expect(fixture.person("git", "log", "--format=%s", "topic").out).toBe("second\nfirst\n");
    });

    test.each([
      [
        "a deleted branch, a staged file, an attached HEAD",
        "git branch -qD old; git commit -qm next; git checkout -q --detach",
      ],
      ["an amended commit", "git commit -q --amend -m better"],
      [
        "a file that was removed and one that was moved",
        "git rm -qf staged.txt; git mv a.txt c.txt; git commit -qm moved",
      ],
    ])("is restored: %s", (_, line) => {
      fixture.person("git", "branch", "old");
      fixture.write("staged.txt", "s\n");
      fixture.person("git", "add", "staged.txt");
      const before = view(fixture);
      const { changes } = fixture.shell(line);
      expect([changes?.kept, view(fixture) === before]).toEqual([[], false]);
      expect(fixture.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(view(fixture)).toBe(before);
    });

    test.each([
      ["commits on top", (): unknown => fixture.person("git", "commit", "-q", "--allow-empty", "-m", "mine")],
      ["moves a branch", (): unknown => fixture.person("git", "branch", "-f", "side", "HEAD~1")],
      ["switches to another branch", (): unknown => fixture.person("git", "checkout", "-q", "side")],
      [
        "stages another version",
        (): unknown => {
          fixture.write("b.txt", "mine\n");
          return fixture.person("git", "add", "b.txt");
        },
      ],
      ["edits a file", (): unknown => fixture.write("b.txt", "mine\n")],
      ["holds a lock", (): unknown => fixture.write(".git/refs/heads/side.lock", "")],
    ])("a person who %s meanwhile: nothing is undone, and the reason is reported", (_, act) => {
      const { changes } = fixture.shell(COMMIT);
      act();
      const after = view(fixture);
      const undone = fixture.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.status).not.toBe(0);
      expect(undone.err).toMatch(/nothing of that landing was undone/);
      expect(view(fixture)).toBe(after);
    });

    test("the person's other work stays: another branch, another staged file", () => {
      const { changes } = fixture.shell(COMMIT);
      fixture.person("git", "branch", "own");
      fixture.write("own.txt", "own\n");
      fixture.person("git", "add", "own.txt");
      expect(fixture.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(fixture.person("git", "log", "--format=%s", "own").out).toBe("second\nfirst\n");
      expect(fixture.person("git", "status", "--porcelain", "--", "own.txt", "a.txt", "b.txt").out).toBe(
        "A  own.txt\n",
      );
    });

    test("a new repository is not undone: refused with the reason", () => {
      const { changes } = fixture.shell(
        "mkdir lib && cd lib && git init -q && echo x > x && git add x && git commit -qm x",
      );
      const undone = fixture.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.status).not.toBe(0);
      expect(undone.err).toContain("new repository");
      expect(fixture.read("lib/x")).toBe("x\n");
    });

    test("a stash stays, and the undo says so", () => {
      fixture.write("a.txt", "edited\n");
      const { changes } = fixture.shell("git stash -q");
      expect(fixture.read("a.txt")).toBe("one\n");
      const undone = fixture.ambit(["undo", changes?.draft ?? ""]);
      expect([undone.status, fixture.read("a.txt")]).toEqual([0, "edited\n"]);
      expect(undone.out).toContain("git stash list");
    });
  });

/** Kills the running daemon at the n-th of these calls that it makes from now on. Returns whether it did. */
async function killAt(fixture: DraftProject, calls: string, when: number): Promise<() => Promise<boolean>> {
  const { pid } = JSON.parse(fixture.ambit(["daemon", "status", "--json"]).out);
  const trace = ["-o", "/dev/null", "-e", `trace=${calls}`, "-e", `inject=${calls}:signal=KILL:when=${when}`];
  const child = spawn("strace", [...trace, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  const over = once(child, "exit");
  await once(child.stderr, "data");
  return async () => {
    const isKilled = !existsSync(`/proc/${pid}/exe`);
    if (!isKilled) child.kill("SIGINT");
    await over;
    return isKilled;
  };
}

/** Records, journals and the locks on HEAD and index are put in place by renames. */
const RENAMES = "rename,renameat,renameat2";

/** Each rename in a long run; otherwise one in five, from one that the seed of the run chooses. */
const renameStep = sizeFor(5, 1);
const firstRename = 1 + (runSeed() % renameStep);

describe.skipIf(!canTrace)("the daemon is killed at its renames", () => {
  test.each(["undo", "land"])(
    "of one %s: all of it is done, or nothing",
    async (act) => {
      const fixture = new DraftProject(process.getuid?.() ?? 0);
      try {
        fixture.repository();
        fixture.shell("true");
        const before = view(fixture);
        let [isKilled, kills] = [true, 0];
        for (let when = firstRename; isKilled && when < 60; when += renameStep) {
          const { changes } = fixture.shell(COMMIT, ...(act === "land" ? ["--review"] : []));
          const id = changes?.draft ?? "";
          const after = view(fixture);
          const ended = await killAt(fixture, RENAMES, when);
          const done = act === "land" ? fixture.changes("land", id, "--yes") : fixture.ambit(["undo", id]);
          isKilled = await ended();
          if (isKilled) kills++;
          // The next daemon recovers before it answers.
          const { state } = JSON.parse(fixture.changes("show", id, "--json").out).summary;
          const now = view(fixture);
          if (act === "undo") {
            expect([before, after], `${act} ${when}: ${done.err}`).toContain(now);
            expect(state, `${act} ${when}`).toBe(now === before ? "undone" : "landed");
            if (now === after)
              expect(fixture.ambit(["undo", id]), `${act} ${when}`).toMatchObject({ status: 0, err: "" });
          } else {
            if (now === before)
              expect(fixture.changes("land", id, "--yes", "--json").out, `${act} ${when}`).toContain('"kept":[]');
            expect(fixture.person("git", "log", "--format=%s", "topic").out, `${act} ${when}`).toBe("second\nfirst\n");
            expect(
              fixture.person("git", "--no-optional-locks", "status", "--porcelain", "--", "a.txt", "b.txt").out,
              `${act} ${when}`,
            ).toBe("");
            expect(fixture.ambit(["undo", id]), `${act} ${when}`).toMatchObject({ status: 0, err: "" });
          }
          expect(view(fixture), `${act} ${when}`).toBe(before);
        }
        expect(isKilled).toBe(false);
        expect(kills).toBeGreaterThan(1);
      } finally {
        fixture.end();
      }
    },
    600_000,
  );
});
