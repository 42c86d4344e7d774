// `ambit undo` reverts commits, refs, HEAD and index together with the files, through the real command line: all of it, or
// nothing if a person has worked since.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DraftMachine, DraftWorld } from "../draft/world.ts";
import { CALLERS } from "../house/callers.ts";
import { sized } from "../house/long.ts";
import { runSeed } from "../house/seed.ts";

const machine = new DraftMachine();

const COMMIT =
  "echo two > b.txt && echo more >> a.txt && git add a.txt b.txt && git commit -qm second && git branch side && git checkout -qb topic";
const canTrace = spawnSync("strace", ["-V"]).status === 0;

/** Everything a person sees of the repository, and that it is sound. */
/** Without optional locks: `git status` would write the index, which a pending draft takes for a change of the person. */
function view(world: DraftWorld): string {
  const parts = [
    world.person("git", "symbolic-ref", "HEAD"),
    world.person("git", "for-each-ref"),
    world.person("git", "ls-files", "--stage"),
    world.person("git", "--no-optional-locks", "status", "--porcelain", "--", "a.txt", "b.txt"),
    world.person("git", "fsck", "--strict", "--no-dangling"),
  ];
  const locks = readdirSync(join(world.project, ".git"), { recursive: true, encoding: "utf8" });
  const files = [world.read("a.txt"), world.read("b.txt")];
  return [...parts.map(({ out }) => out), ...files, ...locks.filter((name) => name.endsWith(".lock"))].join("\n");
}

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let world: DraftWorld;
    beforeEach(() => {
      world = new DraftWorld(user, undefined, machine);
      world.repository();
    });
    afterEach(() => world.end());

    test("files, commits, branches, HEAD and index are as before, and the same changes can be made again", () => {
      const before = view(world);
      const { changes } = world.shell(COMMIT);
      expect(changes?.kept).toEqual([]);
      expect(world.person("git", "log", "--format=%s", "topic").out).toBe("second\nfirst\n");
      expect(world.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(view(world)).toBe(before);
      expect(world.ambit(["undo", changes?.draft ?? ""]).err).toContain("nothing of");
      expect(world.shell(COMMIT).changes?.kept).toEqual([]);
      expect(world.person("git", "log", "--format=%s", "topic").out).toBe("second\nfirst\n");
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
      world.person("git", "branch", "old");
      world.write("staged.txt", "s\n");
      world.person("git", "add", "staged.txt");
      const before = view(world);
      const { changes } = world.shell(line);
      expect([changes?.kept, view(world) === before]).toEqual([[], false]);
      expect(world.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(view(world)).toBe(before);
    });

    test.each([
      ["commits on top", (): unknown => world.person("git", "commit", "-q", "--allow-empty", "-m", "mine")],
      ["moves a branch", (): unknown => world.person("git", "branch", "-f", "side", "HEAD~1")],
      ["switches to another branch", (): unknown => world.person("git", "checkout", "-q", "side")],
      [
        "stages another version",
        (): unknown => {
          world.write("b.txt", "mine\n");
          return world.person("git", "add", "b.txt");
        },
      ],
      ["edits a file", (): unknown => world.write("b.txt", "mine\n")],
      ["holds a lock", (): unknown => world.write(".git/refs/heads/side.lock", "")],
    ])("a person who %s meanwhile: nothing is undone, and the reason is reported", (_, act) => {
      const { changes } = world.shell(COMMIT);
      act();
      const after = view(world);
      const undone = world.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.status).not.toBe(0);
      expect(undone.err).toMatch(/nothing of that landing was undone/);
      expect(view(world)).toBe(after);
    });

    test("the person's other work stays: another branch, another staged file", () => {
      const { changes } = world.shell(COMMIT);
      world.person("git", "branch", "own");
      world.write("own.txt", "own\n");
      world.person("git", "add", "own.txt");
      expect(world.ambit(["undo", changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect(world.person("git", "log", "--format=%s", "own").out).toBe("second\nfirst\n");
      expect(world.person("git", "status", "--porcelain", "--", "own.txt", "a.txt", "b.txt").out).toBe("A  own.txt\n");
    });

    test("a new repository is not undone: refused with the reason", () => {
      const { changes } = world.shell(
        "mkdir lib && cd lib && git init -q && echo x > x && git add x && git commit -qm x",
      );
      const undone = world.ambit(["undo", changes?.draft ?? ""]);
      expect(undone.status).not.toBe(0);
      expect(undone.err).toContain("new repository");
      expect(world.read("lib/x")).toBe("x\n");
    });

    test("a stash stays, and the undo says so", () => {
      world.write("a.txt", "edited\n");
      const { changes } = world.shell("git stash -q");
      expect(world.read("a.txt")).toBe("one\n");
      const undone = world.ambit(["undo", changes?.draft ?? ""]);
      expect([undone.status, world.read("a.txt")]).toEqual([0, "edited\n"]);
      expect(undone.out).toContain("git stash list");
    });
  });

/** Kills the running daemon at the n-th of these calls that it makes from now on. Returns whether it did. */
async function killAt(world: DraftWorld, calls: string, when: number): Promise<() => Promise<boolean>> {
  const { pid } = JSON.parse(world.ambit(["daemon", "status", "--json"]).out);
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
const renameStep = sized(5, 1);
const firstRename = 1 + (runSeed() % renameStep);

describe.skipIf(!canTrace)("the daemon is killed at its renames", () => {
  test.each(["undo", "land"])(
    "of one %s: all of it is done, or nothing",
    async (act) => {
      const world = new DraftWorld(process.getuid?.() ?? 0);
      try {
        world.repository();
        world.shell("true");
        const before = view(world);
        let [isKilled, kills] = [true, 0];
        for (let when = firstRename; isKilled && when < 60; when += renameStep) {
          const { changes } = world.shell(COMMIT, ...(act === "land" ? ["--review"] : []));
          const id = changes?.draft ?? "";
          const after = view(world);
          const ended = await killAt(world, RENAMES, when);
          const done = act === "land" ? world.changes("land", id, "--yes") : world.ambit(["undo", id]);
          isKilled = await ended();
          if (isKilled) kills++;
          // The next daemon recovers before it answers.
          const { state } = JSON.parse(world.changes("show", id, "--json").out).summary;
          const now = view(world);
          if (act === "undo") {
            expect([before, after], `${act} ${when}: ${done.err}`).toContain(now);
            expect(state, `${act} ${when}`).toBe(now === before ? "undone" : "landed");
            if (now === after)
              expect(world.ambit(["undo", id]), `${act} ${when}`).toMatchObject({ status: 0, err: "" });
          } else {
            if (now === before)
              expect(world.changes("land", id, "--yes", "--json").out, `${act} ${when}`).toContain('"kept":[]');
            expect(world.person("git", "log", "--format=%s", "topic").out, `${act} ${when}`).toBe("second\nfirst\n");
            expect(
              world.person("git", "--no-optional-locks", "status", "--porcelain", "--", "a.txt", "b.txt").out,
              `${act} ${when}`,
            ).toBe("");
            expect(world.ambit(["undo", id]), `${act} ${when}`).toMatchObject({ status: 0, err: "" });
          }
          expect(view(world), `${act} ${when}`).toBe(before);
        }
        expect(isKilled).toBe(false);
        expect(kills).toBeGreaterThan(1);
      } finally {
        world.end();
      }
    },
    600_000,
  );
});
