// Landing, undo and recovery with the real worker, where root and drafts share a file system and where they do not.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stepOf } from "../../src/sandbox/plan/drafts/land-request.ts";
import { asOrdinaryUser } from "../files/fixture.ts";
import {
  changeLines,
  draftFixture,
  landAll,
  newFolder,
  newWorker,
  places,
  plant,
  scanDraft,
  setAttribute,
  snapshot,
  startMoment,
  type Tree,
  temporaryNames,
  tick,
} from "./fixture.ts";

const ROOT: Tree = {
  "a.txt": "a",
  "dir/b.txt": "b",
  "dir/sub/c.txt": "c",
  run: { text: "#!", mode: 0o755 },
  l: { link: "a.txt" },
  secret: { text: "s", mode: 0o600 },
};
/** Every kind of change at once. */
const UPPER: Tree = {
  "a.txt": "A",
  dir: { whiteout: true },
  run: { link: "a.txt" },
  l: "a file now",
  secret: { text: "S", mode: 0o777 },
  "new/deep/n.txt": { text: "n", mode: 0o777 },
  "new/link": { link: "../a.txt" },
};
const AFTER = {
  "a.txt": "644 A",
  run: "-> a.txt",
  l: "644 a file now",
  secret: "700 S",
  new: "folder",
  "new/deep": "folder",
  "new/deep/n.txt": "755 n",
  "new/link": "-> ../a.txt",
};

describe.each(places)("drafts on the %s", (title, place) => {
  test("the worker reports how files land, and is restricted", async () => {
    const { worker } = await draftFixture({ root: {}, place });
    expect(await worker.ready).toMatchObject({ renames: title.startsWith("same"), landlock: true, seccomp: true });
  });

  test("a draft that stays is flushed; a missing one is refused", async () => {
    const given = await draftFixture({ root: ROOT, upper: UPPER, place });
    expect(await given.worker.flush(given.id)).toEqual({ status: "flushed" });
    expect(await given.worker.flush("d-none")).toMatchObject({ status: "refused", errno: 2 });
    expect(await landAll(given)).toMatchObject({ status: "landed", changed: 14 });
  });

  test("every kind of change lands, and undo reverts all of it", async () => {
    const given = await draftFixture({ root: ROOT, upper: UPPER, place });
    const before = snapshot(given.root);
    expect(await landAll(given)).toEqual({ status: "landed", landing: 1, changed: 14, alreadyThere: 0 });
    expect(snapshot(given.root)).toEqual(AFTER);
    expect(temporaryNames(given.root)).toEqual([]);
    expect(changeLines(await scanDraft(given))).toEqual([]);
    expect(await given.worker.undo(given.id, 1)).toEqual({ status: "undone", landing: 1 });
    expect(snapshot(given.root)).toEqual(before);
    expect(temporaryNames(given.root)).toEqual([]);
    expect(await given.worker.undo(given.id, 1)).toMatchObject({
      status: "refused",
      reason: "this landing is not done",
    });
    expect(await landAll(given)).toMatchObject({ status: "landed", landing: 2 });
    expect(snapshot(given.root)).toEqual(AFTER);
  });

  test("a part lands, the rest stays in the draft and lands later", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "a.txt": "A", "dir/x": "x", "dir/sub": null }, place });
    setAttribute(join(given.upper, "dir"), "user.overlay.opaque", "y");
    expect(await landAll(given, ({ path }) => path.at(-1) === "x")).toMatchObject({ status: "landed", changed: 1 });
    // The file that landed is not counted as deleted by the opaque folder.
    expect([...changeLines(await scanDraft(given))].sort()).toEqual([
      "delete dir/b.txt",
      "delete dir/sub/c.txt",
      "file a.txt",
    ]);
    expect(await landAll(given)).toMatchObject({ status: "landed", landing: 2, changed: 3 });
    expect(snapshot(given.root)).toMatchObject({ "a.txt": "644 A", "dir/x": "644 x" });
    expect(existsSync(join(given.root, "dir/b.txt"))).toBe(false);
    // The last first; then the other one.
    expect(await given.worker.undo(given.id, 2)).toMatchObject({ status: "undone" });
    expect(await given.worker.undo(given.id, 1)).toMatchObject({ status: "undone" });
    expect(snapshot(given.root)).toMatchObject({ "a.txt": "644 a", "dir/b.txt": "644 b", "dir/sub/c.txt": "644 c" });
  });

  test("no extended attribute, set-id bit, owner or shared inode lands", async () => {
    const given = await draftFixture({
      root: { f: { text: "f", mode: 0o640 } },
      upper: { f: "F", one: "1", set: "s" },
      place,
    });
    linkSync(join(given.upper, "one"), join(given.upper, "two"));
    setAttribute(join(given.upper, "f"), "user.note", "x");
    setAttribute(join(given.upper, "f"), "user.overlay.origin", "x");
    chmodSync(join(given.upper, "set"), 0o6755);
    if (process.getuid?.() === 0) chownSync(join(given.upper, "set"), 12_345, 12_345);
    expect(await landAll(given)).toMatchObject({ status: "landed", changed: 4 });
    expect(lstatSync(join(given.root, "f")).mode & 0o7777).toBe(0o640);
    expect(lstatSync(join(given.root, "set"))).toMatchObject({ uid: process.getuid?.(), gid: process.getgid?.() });
    expect(lstatSync(join(given.root, "set")).mode & 0o7777).toBe(0o755);
    expect(lstatSync(join(given.root, "one")).nlink).toBe(1);
    const listed = "import os,sys; print(os.listxattr(sys.argv[1]))";
    expect(execFileSync("python3", ["-c", listed, join(given.root, "f")], { encoding: "utf8" })).toBe("[]\n");
  });

  describe("a person's edit since the start", () => {
    test.each<[string, (root: string) => void, string]>([
      ["of a replaced file", (root) => writeFileSync(join(root, "a.txt"), "mine"), "a.txt changed"],
      ["of a deleted file", (root) => appendFileSync(join(root, "dir/b.txt"), "mine"), "dir/b.txt changed"],
      ["that creates the new file", (root) => plant(root, { "new/deep/n.txt": "mine" }), "new/deep/n.txt changed"],
      ["that deletes a replaced file", (root) => rmSync(join(root, "a.txt")), "a.txt gone"],
      ["that adds to a deleted folder", (root) => plant(root, { "dir/sub/mine": "m" }), "dir/sub not_empty"],
      [
        "that replaces a folder by a link",
        (root) => {
          renameSync(join(root, "dir"), join(root, "elsewhere"));
          symlinkSync("elsewhere", join(root, "dir"));
        },
        "dir/b.txt parent",
      ],
      [
        "that replaces a file by a folder",
        (root) => {
          rmSync(join(root, "secret"));
          mkdirSync(join(root, "secret"));
        },
        "secret other_kind",
      ],
    ])("%s is a conflict, and nothing lands", async (_what, edit, wanted) => {
      const given = await draftFixture({ root: ROOT, upper: UPPER, place });
      const { changes } = await scanDraft(given);
      edit(given.root);
      const before = snapshot(given.root);
      const landed = await given.worker.land(given.id, changes.map(stepOf), given.start);
      expect(landed.status).toBe("conflict");
      const listed = landed.status === "conflict" ? landed.conflicts.listed : [];
      expect(listed.map(({ path, reason }) => `${path} ${reason}`)).toContain(wanted);
      expect(snapshot(given.root)).toEqual(before);
      expect(temporaryNames(given.root)).toEqual([]);
    });

    test("that equals the draft's is not a conflict", async () => {
      const given = await draftFixture({
        root: ROOT,
        upper: { "a.txt": "A", m: { link: "x" }, "dir/b.txt": { whiteout: true } },
        place,
      });
      const { changes } = await scanDraft(given);
      writeFileSync(join(given.root, "a.txt"), "A");
      rmSync(join(given.root, "dir/b.txt"));
      const landed = await given.worker.land(given.id, changes.map(stepOf), given.start);
      expect(landed).toMatchObject({ status: "landed", changed: 1, alreadyThere: 2 });
    });

    test("after the landing stops an undo, and nothing is undone", async () => {
      const given = await draftFixture({ root: ROOT, upper: UPPER, place });
      expect(await landAll(given)).toMatchObject({ status: "landed" });
      await tick();
      plant(given.root, { "new/mine": "m", "a.txt": "edited" });
      const before = snapshot(given.root);
      const undone = await given.worker.undo(given.id, 1);
      expect(undone).toMatchObject({ status: "conflict", conflicts: { total: 2 } });
      expect(snapshot(given.root)).toEqual(before);
    });
  });

  test("names of every legal text byte, spaces, newlines, and of maximal length land", async () => {
    const names = [
      " ",
      "\n",
      "a\tb",
      "-rf",
      "\u{1F600}",
      "é",
      "\\x41",
      "$(x)",
      "x".repeat(255),
      "\u0001\u007f",
      "'\"*?[]",
    ];
    const deep = Array.from({ length: 15 }, (_, at) => String.fromCharCode(97 + at).repeat(250)).join("/");
    const upper = Object.fromEntries(names.map((name) => [name, "x"]));
    const given = await draftFixture({ root: { [names[3] as string]: "old" }, upper: { ...upper }, place });
    // Longer than the system's limit for a path from its start: made by relative steps.
    const make =
      "import os,sys; os.chdir(sys.argv[1]); [(os.mkdir(n), os.chdir(n)) for n in sys.argv[2].split('/')]; open('f','w')";
    execFileSync("python3", ["-c", make, given.upper, deep]);
    expect(await landAll(given)).toMatchObject({ status: "landed", changed: names.length + 16 });
    for (const name of names) expect(readFileSync(join(given.root, name), "utf8")).toBe("x");
    expect(await given.worker.undo(given.id, 1)).toMatchObject({ status: "undone" });
    expect(snapshot(given.root)).toEqual({ "-rf": "644 old" });
  });

  test("10,000 new files", async () => {
    const given = await draftFixture({ root: {}, place });
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(join(given.upper, `d${folder}`));
      for (let file = 0; file < 100; file++)
        writeFileSync(join(given.upper, `d${folder}/f${file}`), `${folder} ${file}\n`);
    }
    const started = performance.now();
    const { changes } = await scanDraft(given);
    const looked = performance.now();
    const landed = await given.worker.land(given.id, changes.map(stepOf), given.start);
    const ended = performance.now();
    expect(landed).toMatchObject({ status: "landed", changed: 10_100 });
    expect(readFileSync(join(given.root, "d42/f17"), "utf8")).toBe("42 17\n");
    const times = [looked - started, ended - looked].map((milliseconds) => `${Math.round(milliseconds)} ms`);
    console.log(`10,000 files, ${title}: scan ${times[0]}, land ${times[1]}`);
  });

  test("files of the root, the draft and the bin are read in pieces", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "a.txt": "AAAA" }, place });
    const read = async (side: "draft" | "root" | "bin", path: string, offset = 0, bytesMax = 100): Promise<string> => {
      const result = await given.worker.read(given.id, { side, path: path.split("/"), offset, bytesMax });
      return result.status === "read"
        ? `${result.size} ${Buffer.from(result.bytes)}`
        : `${result.status}: ${result.reason}`;
    };
    expect(await read("draft", "a.txt", 1, 2)).toBe("4 AA");
    expect(await read("root", "dir/b.txt")).toBe("1 b");
    expect(await read("root", "l")).toMatch(/^refused/);
    expect(await read("root", "..")).toMatch(/^refused/);
    await landAll(given);
    expect(await read("bin", "1-0")).toBe("1 a");
    expect(await read("bin", "../upper")).toMatch(/^refused/);
  });

  test("at a folder that cannot be written everything that had landed is reverted", async () => {
    const program = asOrdinaryUser(newFolder());
    if (program === null) return;
    const given = await draftFixture({
      root: { "a.txt": "a", "closed/b.txt": "b" },
      upper: { "a.txt": "A", "closed/b.txt": "B" },
      place,
    });
    execFileSync("chown", ["-R", "12345:12345", given.root, given.drafts]);
    chmodSync(join(given.root, "closed"), 0o555);
    const worker = newWorker(given.root, given.drafts, program);
    await tick();
    const start = await startMoment();
    const scan = await worker.scan(given.id);
    const changes = scan.status === "scanned" ? scan.scan.changes : [];
    const landed = await worker.land(given.id, changes.map(stepOf), start);
    expect(landed.status === "conflict" || landed.status === "refused", JSON.stringify(landed)).toBe(true);
    expect(snapshot(given.root)).toEqual({ "a.txt": "644 a", closed: "folder", "closed/b.txt": "644 b" });
    const again = await worker.scan(given.id);
    expect(again.status === "scanned" ? changeLines(again.scan).length : 0).toBe(2);
  });

  test("an ordinary user lands what a root user lands", async () => {
    const program = asOrdinaryUser(newFolder());
    if (program === null) return;
    const given = await draftFixture({ root: ROOT, upper: UPPER, place });
    execFileSync("chown", ["-hR", "12345:12345", given.root, given.drafts]);
    const worker = newWorker(given.root, given.drafts, program);
    const start = await startMoment();
    const scan = await worker.scan(given.id);
    const changes = scan.status === "scanned" ? scan.scan.changes : [];
    expect(await worker.land(given.id, changes.map(stepOf), start)).toMatchObject({ status: "landed", changed: 14 });
    expect(snapshot(given.root)).toEqual(AFTER);
    expect(statSync(join(given.root, "a.txt")).uid).toBe(12_345);
    expect(await worker.undo(given.id, 1)).toMatchObject({ status: "undone" });
  });
});

test("a root behind a link is refused", async () => {
  const [root, drafts, other] = [newFolder(), newFolder(), newFolder()];
  symlinkSync(root, join(other, "link"));
  const worker = newWorker(join(other, "link"), drafts);
  expect(await worker.ready).toMatchObject({ status: "refused", errno: 40 });
  expect(await worker.scan("d1")).toMatchObject({ status: "lost" });
});

test("when a worker is killed, every request in its queue fails with that reason", async () => {
  const given = await draftFixture({ root: ROOT, upper: UPPER });
  await given.worker.ready;
  process.kill(given.worker.processId as number, "SIGSTOP");
  const waiting = [given.worker.scan(given.id), given.worker.scan(given.id)];
  process.kill(given.worker.processId as number, "SIGKILL");
  for (const result of await Promise.all(waiting)) expect(result.status).toBe("lost");
});
