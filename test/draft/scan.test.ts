// The scan of a sealed upper layer: every marker of the overlay file system, every kind of file.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  changeLines,
  draftFixture,
  newFolder,
  plant,
  scanDraft,
  setAttribute,
  snapshot,
  type Tree,
} from "./fixture.ts";

const ROOT: Tree = {
  "a.txt": "a",
  "dir/b.txt": "b",
  "dir/sub/c.txt": "c",
  run: { text: "#!", mode: 0o755 },
  l: { link: "a.txt" },
};

describe("changes", () => {
  test.each<[string, Tree, readonly string[]]>([
    ["nothing", {}, []],
    ["a new file", { "n.txt": "n" }, ["file n.txt"]],
    ["a file in new folders", { "x/y/n.txt": "n" }, ["folder x", "folder x/y", "file x/y/n.txt"]],
    ["other content", { "a.txt": "A" }, ["file a.txt"]],
    ["a copy with the same content is no change", { "a.txt": "a", "dir/b.txt": "b" }, []],
    ["other mode bits are no change", { "a.txt": { text: "a", mode: 0o600 } }, []],
    ["u+x is a change", { "a.txt": { text: "a", mode: 0o744 } }, ["file a.txt"]],
    ["u-x is a change", { run: { text: "#!", mode: 0o644 } }, ["file run"]],
    ["a deleted file", { "a.txt": { whiteout: true } }, ["delete a.txt"]],
    ["a whiteout of a missing name is no change", { gone: { whiteout: true } }, []],
    [
      "a deleted folder",
      { dir: { whiteout: true } },
      ["delete dir/b.txt", "delete dir/sub", "delete dir/sub/c.txt", "delete dir"],
    ],
    ["a new link", { m: { link: "dir/b.txt" } }, ["link m"]],
    ["the same link is no change", { l: { link: "a.txt" } }, []],
    ["another target", { l: { link: "/etc" } }, ["link l"]],
    ["file to folder", { "a.txt/z": "z" }, ["delete a.txt", "folder a.txt", "file a.txt/z"]],
    ["file to link", { "a.txt": { link: "run" } }, ["delete a.txt", "link a.txt"]],
    ["link to file", { l: "text" }, ["delete l", "file l"]],
    [
      "folder to file",
      { dir: "now a file" },
      ["delete dir/b.txt", "delete dir/sub", "delete dir/sub/c.txt", "delete dir", "file dir"],
    ],
  ])("%s", async (_title, upper, wanted) => {
    const given = await draftFixture({ root: ROOT, upper });
    const scan = await scanDraft(given);
    expect([...changeLines(scan)].sort()).toEqual([...wanted].sort());
    expect(scan).toMatchObject({ alarm: null, unlandable: [] });
    // Folders before their contents; deletions of contents first; a deletion before its replacement.
    const order = changeLines(scan);
    for (const [at, line] of order.entries()) {
      const path = line.slice(line.indexOf(" ") + 1);
      const inside = order.filter((other) => other.startsWith(line.startsWith("delete ") ? `delete ${path}/` : "\0"));
      for (const other of inside) expect(order.indexOf(other)).toBeLessThan(at);
    }
  });

  test("bases are taken from the root", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "a.txt": "new", "n.txt": "n" } });
    const { changes } = await scanDraft(given);
    expect(changes.find(({ path }) => path[0] === "a.txt")).toMatchObject({
      kind: "file",
      bytes: 3,
      isExecutable: false,
      base: { kind: "file", bytes: 1n, mode: 0o644, links: 1n },
    });
    expect(changes.find(({ path }) => path[0] === "n.txt")).toMatchObject({ base: null });
  });

  test("an opaque folder deletes what it does not contain, at any depth", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "dir/new": "n", "dir/sub": null } });
    setAttribute(join(given.upper, "dir"), "user.overlay.opaque", "y");
    expect([...changeLines(await scanDraft(given))].sort()).toEqual([
      "delete dir/b.txt",
      "delete dir/sub/c.txt",
      "file dir/new",
    ]);
  });

  test("whiteouts as attributes count in a folder that is marked for them, and nowhere else", async () => {
    const given = await draftFixture({ root: ROOT, upper: { "dir/b.txt": "" } });
    setAttribute(join(given.upper, "dir"), "user.overlay.opaque", "x");
    setAttribute(join(given.upper, "dir/b.txt"), "user.overlay.whiteout", "y");
    expect(changeLines(await scanDraft(given))).toEqual(["delete dir/b.txt"]);
    const other = await draftFixture({ root: ROOT, upper: { "dir/b.txt": "" } });
    setAttribute(join(other.upper, "dir/b.txt"), "user.overlay.whiteout", "y");
    expect((await scanDraft(other)).alarm).toContain("user.overlay.whiteout on dir/b.txt");
  });

  test("file modes in a draft do not stop the scan", async () => {
    const given = await draftFixture({
      root: ROOT,
      upper: { "dir/b.txt": { text: "B", mode: 0o000 }, "closed/x": "x" },
    });
    chmodSync(join(given.upper, "closed"), 0o000);
    expect([...changeLines(await scanDraft(given))].sort()).toEqual([
      "file closed/x",
      "file dir/b.txt",
      "folder closed",
    ]);
  });
});

describe("alarms", () => {
  test.each([
    ["redirect", "/elsewhere"],
    ["metacopy", ""],
    ["opaque", "z"],
    ["overlay.opaque", "y"],
    ["nlink", "U+1"],
    ["something", "1"],
    ["uuid", "0123456789abcdef"],
  ])("user.overlay.%s", async (name, value) => {
    const given = await draftFixture({ root: ROOT, upper: { "dir/b.txt": "B" } });
    setAttribute(join(given.upper, "dir"), `user.overlay.${name}`, value);
    expect((await scanDraft(given)).alarm).toBe(`user.overlay.${name} on dir`);
  });

  test.each(["origin", "impure", "protattr"])("user.overlay.%s is not an alarm", async (name) => {
    const given = await draftFixture({ root: ROOT, upper: { "dir/b.txt": "B" } });
    setAttribute(join(given.upper, "dir"), `user.overlay.${name}`, "y");
    expect((await scanDraft(given)).alarm).toBeNull();
  });
});

describe("what can never land", () => {
  test("pipes, and names and targets that are not text", async () => {
    const given = await draftFixture({ root: ROOT });
    execFileSync("mkfifo", [join(given.upper, "pipe")]);
    const upper = Buffer.from(given.upper);
    writeFileSync(Buffer.concat([upper, Buffer.from("/bad\xff\\", "latin1")]), "x");
    execFileSync("python3", [
      "-c",
      "import os,sys; os.symlink(b'to\\xff', os.path.join(sys.argv[1].encode(), b'link'))",
      given.upper,
    ]);
    const { changes, unlandable } = await scanDraft(given);
    expect(changes).toEqual([]);
    expect([...unlandable].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "bad\\xff\\x5c", reason: "name_not_text" },
      { path: "link", reason: "target_not_text" },
      { path: "pipe", reason: "special_file" },
    ]);
  });

  test("a folder with a pipe is not deleted", async () => {
    const given = await draftFixture({ root: ROOT, upper: { dir: { whiteout: true } } });
    execFileSync("mkfifo", [join(given.root, "dir/pipe")]);
    const scan = await scanDraft(given);
    expect(scan.unlandable).toEqual([{ path: "dir/pipe", reason: "special_file" }]);
    expect(changeLines(scan)).not.toContain("delete dir");
  });

  test("folders nested too deep: refused", async () => {
    const given = await draftFixture({ root: {}, upper: { [Array(300).fill("d").join("/")]: null } });
    expect(await given.worker.scan(given.id)).toMatchObject({
      status: "refused",
      reason: "the draft has more than 256 folders inside each other",
    });
  });

  test.each(["", ".", "..", "a/b", "a b", "x".repeat(65)])("a draft id is not a path: %j", async (id) => {
    const given = await draftFixture({ root: {} });
    expect(await given.worker.scan(id)).toMatchObject({ status: "refused", reason: "not the id of a draft" });
  });

  test("a missing draft is refused, and the worker keeps running", async () => {
    const given = await draftFixture({ root: ROOT, upper: { n: "n" } });
    expect(await given.worker.scan("other")).toMatchObject({ status: "refused", errno: 2 });
    expect(changeLines(await scanDraft(given))).toEqual(["file n"]);
  });
});

describe("a real overlay", () => {
  const mounts = spawnSync("unshare", ["-Urm", "true"]).status === 0;

  test.skipIf(!mounts)("reports what the commands did", async () => {
    const base = newFolder();
    for (const name of ["work", "merged"]) mkdirSync(join(base, name));
    const given = await draftFixture({ root: { ...ROOT, "old/x": "x", "keep/y": "y" } });
    const work = join(given.drafts, given.id, "work");
    mkdirSync(work);
    const script = [
      `mount -t overlay overlay -o userxattr,lowerdir=${given.root},upperdir=${given.upper},workdir=${work} ${base}/merged`,
      `cd ${base}/merged`,
      "echo more >> a.txt; chmod 700 dir/b.txt; touch run; rm -rf old; rm -rf keep; mkdir keep; echo z > keep/z",
      "mkdir -p new/deep; echo n > new/deep/n; ln a.txt hard; ln -s a.txt soft; rm l; mv dir/sub/c.txt moved; rm -r dir/sub",
    ].join("\n");
    execFileSync("unshare", ["-Urm", "sh", "-ec", script]);
    const scan = await scanDraft(given);
    expect(scan).toMatchObject({ alarm: null, unlandable: [] });
    expect([...changeLines(scan)].sort()).toEqual(
      [
        ...["file a.txt", "file dir/b.txt", "delete old/x", "delete old", "delete keep/y", "file keep/z", "folder new"],
        ...["folder new/deep", "file new/deep/n", "file hard", "link soft", "delete l", "file moved"],
        ...["delete dir/sub/c.txt", "delete dir/sub"],
      ].sort(),
    );
    const { stepOf } = await import("../../src/sandbox/plan/drafts/land-request.ts");
    const landed = await given.worker.land(given.id, scan.changes.map(stepOf), given.start);
    expect(landed, JSON.stringify(landed)).toMatchObject({ status: "landed", alreadyThere: 0 });
    expect(snapshot(given.root)).toEqual({
      "a.txt": "644 amore\n",
      hard: "644 amore\n",
      dir: "folder",
      "dir/b.txt": "755 b",
      keep: "folder",
      "keep/z": "644 z\n",
      moved: "644 c",
      new: "folder",
      "new/deep": "folder",
      "new/deep/n": "644 n\n",
      run: "755 #!",
      soft: "-> a.txt",
    });
  });
});

test("hard links in the draft are files of their own", async () => {
  const given = await draftFixture({ root: {}, upper: { one: "1" } });
  linkSync(join(given.upper, "one"), join(given.upper, "two"));
  expect([...changeLines(await scanDraft(given))].sort()).toEqual(["file one", "file two"]);
  expect(readdirSync(given.root)).toEqual([]);
  plant(given.root, {});
});
