// Bad input end to end, through the real command line: full, read-only and other disks, mounts in the root, sparse files of 10
// GB, names of every byte, kinds that change. Each ends as landed, kept or refused, and is reported as that.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nativeMissing } from "../files/native.ts";
import { CALLERS } from "../house/callers.ts";
import { removeState } from "../house/remove-state.ts";
import { DraftProject, type ShellResult } from "./project.ts";

const isRoot = process.getuid?.() === 0;
const kept = ({ changes }: ShellResult): readonly string[] =>
  changes?.kept.map(({ path, code }) => `${path} ${code}`) ?? [];
const reasons = ({ changes }: ShellResult): string => changes?.kept.map(({ reason }) => reason).join("; ") ?? "";

describe.skipIf(nativeMissing() !== null).each(CALLERS)("as user %i", (user) => {
  let fixture: DraftProject;
  let mounts: string[] = [];
  beforeEach(() => {
    fixture = new DraftProject(user);
  }, 120_000);
  afterEach(() => {
    fixture.stopDaemon();
    for (const one of mounts.reverse()) spawnSync("umount", ["-l", one]);
    mounts = [];
    fixture.end();
  }, 120_000);

  /** Mounts another file system over a folder, with the folder's files. */
  const mountOver = (folder: string, options: string): void => {
    const copy = mkdtempSync(join(tmpdir(), "ambit-copy-"));
    cpSync(folder, copy, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
    mounts.push(folder);
    cpSync(copy, folder, { recursive: true });
    rmSync(copy, { recursive: true });
    fixture.own();
  };

  test.skipIf(!isRoot)(
    "a root on a full disk: nothing lands, all of it is kept, and the project is as before",
    () => {
      mountOver(fixture.project, "size=1m,mode=755");
      fixture.write("a.txt", "one\n");
      const result = fixture.shell("head -c 4000000 /dev/zero > big.bin; echo two > a.txt");
      expect([...kept(result)].sort()).toEqual(["a.txt not_landed", "big.bin not_landed"]);
      expect(reasons(result)).toMatch(/ENOSPC|no space|cannot prepare/);
      expect([fixture.read("a.txt"), existsSync(join(fixture.project, "big.bin"))]).toEqual(["one\n", false]);
      expect(readdirSync(fixture.project).sort()).toEqual([".ambit", "a.txt"]);
    },
    120_000,
  );

  test.skipIf(!isRoot)(
    "a root that is mounted read-only: kept or refused, with the reason",
    () => {
      mountOver(fixture.project, "size=4m,mode=755");
      fixture.write("a.txt", "one\n");
      execFileSync("mount", ["-o", "remount,ro", fixture.project]);
      const result = fixture.shell("echo two > a.txt");
      expect(fixture.read("a.txt")).toBe("one\n");
      if (result.changes === null) expect(result.outcome).toBe("refused");
      else expect(kept(result)).toEqual(["a.txt not_landed"]);
    },
    120_000,
  );

  test.skipIf(!isRoot)(
    "a state folder on a full disk: the command alone fails, and the project is as before",
    () => {
      fixture.stopDaemon();
      mountOver(join(fixture.base, "state"), "size=16m,mode=755");
      fixture.write("a.txt", "one\n");
      const result = fixture.shell("echo two > b.txt; head -c 40000000 /dev/zero > big.bin");
      expect(result.status).not.toBe(0);
      expect(fixture.read("a.txt")).toBe("one\n");
      const landed = ["big.bin", "b.txt"].filter((name) => existsSync(join(fixture.project, name)));
      // All or nothing: what it could write landed, or none of it did and the report says so.
      if (landed.length > 0) expect(landed).toEqual(["big.bin", "b.txt"]);
      else expect(kept(result).length + (result.outcome === "refused" ? 1 : 0)).toBeGreaterThan(0);
    },
    120_000,
  );

  test.skipIf(!isRoot)(
    "a state folder on another disk: files land by copying, and undo restores them",
    () => {
      fixture.stopDaemon();
      mountOver(join(fixture.base, "state"), "size=64m,mode=755");
      fixture.write("a.txt", "one\n");
      const result = fixture.shell("echo two > a.txt; echo new > b.txt");
      // A hole of a gigabyte is copied to the other disk as a hole.
      expect(fixture.shell("truncate -s 1000M new.img").changes?.landed).toBe(1);
      const { size, blocks } = statSync(join(fixture.project, "new.img"));
      expect(size).toBe(1000 * 1024 ** 2);
      expect(blocks * 512).toBeLessThan(1024 ** 2);
      expect([result.changes?.landed, fixture.read("a.txt"), fixture.read("b.txt")]).toEqual([2, "two\n", "new\n"]);
      expect(fixture.ambit(["undo", result.changes?.draft ?? ""])).toMatchObject({ status: 0 });
      expect([fixture.read("a.txt"), fixture.read("b.txt")]).toEqual(["one\n", null]);
    },
    120_000,
  );

  test.skipIf(!isRoot)(
    "a mount below the root: refused before the command runs, with the reason",
    () => {
      mkdirSync(join(fixture.project, "sub"));
      mountOver(join(fixture.project, "sub"), "size=1m,mode=755");
      const { status, out, err } = fixture.ambit(["exec", "writer", "--json", "--shell", "--", "echo x > a.txt"]);
      expect(status).not.toBe(0);
      expect(out + err).toMatch(/mount/);
      expect(existsSync(join(fixture.project, "a.txt"))).toBe(false);
    },
    120_000,
  );

  test.skipIf(!isRoot)(
    "a root on a disk of its own can be unmounted and created again soon after a command",
    () => {
      mountOver(fixture.project, "size=4m,mode=755");
      expect(fixture.shell("echo two > b.txt").changes?.landed).toBe(1);
      // The sandbox of the next command may be starting: its root is open until it is mounted.
      let gone = spawnSync("umount", [fixture.project], { encoding: "utf8" });
      for (let tries = 0; gone.status !== 0 && tries < 50; tries++) {
        spawnSync("sleep", ["0.1"]);
        gone = spawnSync("umount", [fixture.project], { encoding: "utf8" });
      }
      expect([gone.status, gone.stderr]).toEqual([0, ""]);
      mounts = [];
      expect(fixture.shell("echo three > b.txt").changes?.landed).toBe(1);
      const agents = mkdtempSync(join(tmpdir(), "ambit-copy-"));
      cpSync(join(fixture.project, ".ambit"), agents, { recursive: true });
      rmSync(fixture.project, { recursive: true });
      mkdirSync(fixture.project);
      cpSync(agents, join(fixture.project, ".ambit"), { recursive: true });
      rmSync(agents, { recursive: true });
      fixture.own();
      expect(fixture.shell("echo four > b.txt").changes?.landed).toBe(1);
      expect(fixture.read("b.txt")).toBe("four\n");
    },
    120_000,
  );

  test("a sparse file of 10 GB that is opened for writing is never copied byte by byte", () => {
    fixture.write("big.img", "");
    truncateSync(join(fixture.project, "big.img"), 10 * 1024 ** 3);
    const result = fixture.shell(
      "printf x | dd of=big.img conv=notrunc bs=1 2>/dev/null; truncate -s 10G new.img; true",
    );
    // The test's timeout is the bound: 10 GB would take longer.
    const told = [...kept(result), ...(result.changes?.landed === 0 ? [] : ["landed"])];
    expect(told.length).toBeGreaterThan(0);
    for (const name of ["big.img", "new.img"].filter((one) => existsSync(join(fixture.project, one))))
      expect(statSync(join(fixture.project, name)).blocks * 512).toBeLessThan(64 * 1024 ** 2);
  }, 180_000);

  test("names of every byte: text lands, the rest is reported as names that are not text", () => {
    const line = [
      "i=1; while [ $i -le 255 ]; do",
      '  if [ $i -ne 47 ]; then o=$(printf \'%03o\' $i); f=$(printf "n\\\\$o"_); : > "$f"; fi',
      "  i=$((i+1)); done",
    ].join("\n");
    const result = fixture.shell(line);
    const names = readdirSync(fixture.project, { encoding: "buffer" }).filter((name) => name[0] === 0x6e);
    expect(names.length).toBe(126);
    expect(result.changes?.landed).toBe(126);
    // The list of kept names is limited: the rest is counted.
    const all = result.changes as { kept: readonly { reason: string }[]; keptMore: number } | null;
    expect((all?.kept.length ?? 0) + (all?.keptMore ?? 0)).toBe(128);
    expect(all?.kept.every(({ reason }) => reason.includes("not valid UTF-8"))).toBe(true);
  }, 120_000);

  test("a folder that turns into a file, a file that turns into a folder", () => {
    fixture.write("d/one", "1\n");
    fixture.write("d/two/three", "3\n");
    fixture.write("f", "f\n");
    const result = fixture.shell("rm -r d; echo file > d; rm f; mkdir f; echo in > f/in");
    expect([fixture.read("d"), fixture.read("f/in")]).toEqual(["file\n", "in\n"]);
    expect(kept(result)).toEqual([]);
    expect(fixture.ambit(["undo", result.changes?.draft ?? ""])).toMatchObject({ status: 0 });
    expect([fixture.read("d/one"), fixture.read("d/two/three"), fixture.read("f")]).toEqual(["1\n", "3\n", "f\n"]);
  }, 120_000);
});

/** Null if this kernel can fold case in a file system of a test; otherwise the reason. */
function caseFoldingMissing(): string | null {
  if (!isRoot) return "only root mounts file systems";
  const folder = mkdtempSync(join(tmpdir(), "ambit-fold-"));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "casefold", "tmpfs", folder], {
    encoding: "utf8",
  });
  if (status === 0) spawnSync("umount", [folder]);
  removeState(folder);
  return status === 0 ? null : `this kernel mounts no tmpfs with casefold: ${stderr.split("\n")[0] ?? ""}`;
}

const noFolding = caseFoldingMissing();
describe.skipIf(nativeMissing() !== null || noFolding !== null)(
  `a root that folds case${noFolding === null ? "" : ` (not run: ${noFolding})`}`,
  () => {
    test("protects names in every case, or refuses the root", () => {
      const fixture = new DraftProject(0);
      const copy = mkdtempSync(join(tmpdir(), "ambit-copy-"));
      cpSync(fixture.project, copy, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "-o", "casefold,mode=755", "tmpfs", fixture.project]);
      try {
        execFileSync("chattr", ["+F", fixture.project]);
        cpSync(copy, fixture.project, { recursive: true });
        const result = fixture.ambit([
          "exec",
          "writer",
          "--json",
          "--shell",
          "--",
          "mkdir .VSCode; echo x > .VSCode/tasks.json",
        ]);
        expect(existsSync(join(fixture.project, ".vscode"))).toBe(false);
        expect(result.out + result.err).toMatch(/self_modification|not_available|not_landed/);
      } finally {
        fixture.stopDaemon();
        spawnSync("umount", ["-l", fixture.project]);
        rmSync(copy, { recursive: true });
        fixture.end();
      }
    }, 120_000);
  },
);
