import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { listFolder } from "../../platform/listing.ts";
import { createRecord, listRecords, RECORDS, readListed, recordCache } from "./record-files.ts";

const FUTURE = 8_000_000_000_000;
const makePipe = "mkfifo";
let base = "";
let workspace = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-records-"));
  workspace = join(base, "w");
  mkdirSync(join(workspace, RECORDS), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text = "---\n---\n"): string {
  const full = join(workspace, RECORDS, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

function listed(): { readonly files: readonly string[]; readonly problems: readonly string[] } {
  const { files, problems } = listRecords(workspace, FUTURE);
  return {
    files: files.map(({ path }) => path),
    problems: problems.map(({ path, code, message }) => `${path} ${code}: ${message}`),
  };
}

describe("the listing of the folder", () => {
  test("Markdown at any depth, sorted; hidden names and other files are ignored", () => {
    for (const path of ["b.md", "a/z.md", "a/b/c.md", ".hidden.md", ".git/x.md", "a.txt", "ü.md"]) put(path);
    expect(listed()).toEqual({ files: ["a/b/c.md", "a/z.md", "b.md", "ü.md"], problems: [] });
  });

  test("no folder, no records", () => {
    rmSync(join(workspace, RECORDS), { recursive: true });
    expect(listed()).toEqual({ files: [], problems: [] });
  });

  it.each<readonly [string, string, (path: string) => void, RegExp | null]>([
    [
      "a link to a file outside",
      "x.md",
      (path) => symlinkSync(join(base, "secret.md"), path),
      /escapes_root.*out of this folder/,
    ],
    ["a link to a folder outside", "x", (path) => symlinkSync(base, path), /escapes_root.*out of this folder/],
    ["a link to the workspace above", "x", (path) => symlinkSync("../..", path), /escapes_root/],
    ["a link to a file inside", "x.md", (path) => symlinkSync("own.md", path), null],
    ["a link to the folder itself", "x", (path) => symlinkSync(".", path), null],
    ["a link to nothing", "x.md", (path) => symlinkSync("nowhere", path), /escapes_root.*nowhere/],
    ["a link to itself", "x.md", (path) => symlinkSync("x.md", path), /escapes_root.*itself/],
    ["a link that is not Markdown", "x.png", (path) => symlinkSync("/etc/passwd", path), null],
    ["a pipe", "x.md", (path) => spawnSync(makePipe, [path]), /not_understood.*plain file/],
    [
      "a file too long for a record",
      "x.md",
      (path) => {
        writeFileSync(path, "");
        truncateSync(path, 1_000_000_000);
      },
      /too_large/,
    ],
  ])("%s", (_what, name, make, problem) => {
    writeFileSync(join(base, "secret.md"), "secret");
    put("own.md");
    make(join(workspace, RECORDS, name));
    const { files, problems } = listed();
    expect(files).toEqual(["own.md"]);
    expect(problems).toHaveLength(problem === null ? 0 : 1);
    if (problem !== null) expect(problems[0]).toMatch(problem);
  });

  test("a records folder that is a link out of the workspace is not read at all", () => {
    put("own.md");
    renameSync(join(workspace, RECORDS), join(base, "elsewhere"));
    symlinkSync(join(base, "elsewhere"), join(workspace, RECORDS));
    const { files, problems } = listed();
    expect([files, problems.length]).toEqual([[], 1]);
    // Inside the workspace it may be anywhere.
    renameSync(join(base, "elsewhere"), join(workspace, "docs"));
    rmSync(join(workspace, RECORDS));
    symlinkSync("../docs", join(workspace, RECORDS));
    expect(listed()).toEqual({ files: ["own.md"], problems: [] });
  });

  // Root can read every folder.
  test.skipIf(process.getuid?.() === 0)("a closed folder is one problem, and the others are read", () => {
    put("a/x.md");
    put("b/x.md");
    chmodSync(join(workspace, RECORDS, "a"), 0);
    const { files, problems } = listed();
    chmodSync(join(workspace, RECORDS, "a"), 0o700);
    expect([files, problems.length]).toEqual([["b/x.md"], 1]);
  });
});

describe("every limit gives one problem when exceeded", () => {
  const limits = { filesMax: 3, depthMax: 2, entriesMax: 20, fileBytesMax: 10, bytesMax: 25 };
  const list = (): readonly [number, readonly string[]] => {
    const isWanted = (path: string): boolean => path.endsWith(".md");
    const folder = join(workspace, RECORDS);
    const { files, problems } = listFolder({
      folder,
      inside: workspace,
      now: FUTURE,
      limits,
      isWanted,
      isEntered: () => true,
    });
    return [files.length, problems.map(({ code }) => code)];
  };
  it.each<readonly [string, readonly (readonly [string, string])[], number, number]>([
    [
      "files",
      [
        ["1.md", ""],
        ["2.md", ""],
        ["3.md", ""],
      ],
      3,
      0,
    ],
    [
      "one file more",
      [
        ["1.md", ""],
        ["2.md", ""],
        ["3.md", ""],
        ["4.md", ""],
        ["5.md", ""],
      ],
      3,
      1,
    ],
    ["depth", [["a/b/1.md", ""]], 1, 0],
    [
      "one folder deeper",
      [
        ["a/b/c/1.md", ""],
        ["a/2.md", ""],
      ],
      1,
      1,
    ],
    ["bytes of a file", [["1.md", "x".repeat(10)]], 1, 0],
    [
      "one byte more",
      [
        ["1.md", "x".repeat(11)],
        ["2.md", ""],
      ],
      1,
      1,
    ],
    [
      "bytes in total",
      [
        ["1.md", "x".repeat(10)],
        ["2.md", "x".repeat(10)],
        ["3.md", "x".repeat(5)],
      ],
      3,
      0,
    ],
    [
      "one byte more",
      [
        ["1.md", "x".repeat(10)],
        ["2.md", "x".repeat(10)],
        ["3.md", "x".repeat(6)],
      ],
      2,
      1,
    ],
    ["names", Array.from({ length: 20 }, (_, at) => [`${at}.txt`, ""] as const), 0, 0],
    ["one name more", Array.from({ length: 21 }, (_, at) => [`${at}.txt`, ""] as const), 0, 1],
  ])("%s", (_what, files, count, problems) => {
    for (const [path, text] of files) put(path, text);
    const [found, codes] = list();
    expect([found, codes]).toEqual([count, Array.from({ length: problems }, () => "too_large")]);
  });
});

describe("a stamp changes with its file", () => {
  const stamp = (): string => listRecords(workspace, FUTURE).files[0]?.stamp ?? "none";
  it.each<readonly [string, (path: string) => void]>([
    ["another text of the same length", (path) => writeFileSync(path, "b")],
    [
      "another file under the same name",
      (path) => {
        put("other.tmp", "a");
        renameSync(join(workspace, RECORDS, "other.tmp"), path);
      },
    ],
    [
      "another text with its modification time restored",
      (path) => {
        writeFileSync(path, "b");
        utimesSync(path, 1, 1);
      },
    ],
  ])("%s", (_what, change) => {
    const path = put("a.md", "a");
    utimesSync(path, 1, 1);
    const before = stamp();
    expect(stamp()).toBe(before);
    // Waits until the file system's clock has advanced.
    spawnSync(process.execPath, ["-e", "0"]);
    change(path);
    expect(stamp()).not.toBe(before);
  });

  test("a file that was written just now is not settled", () => {
    put("a.md");
    expect(listRecords(workspace, Date.now()).files[0]?.settled).toBe(false);
    expect(listRecords(workspace, Date.now() + 5000).files[0]?.settled).toBe(true);
  });
});

describe("one file is read whole, with the stamp it was found by", () => {
  const folder = (): string => join(workspace, RECORDS);
  const read = (charactersMax = 100): ReturnType<typeof readListed> => {
    const [file] = listRecords(workspace, FUTURE).files;
    return readListed(folder(), file ?? { path: "none.md", stamp: "", settled: true }, charactersMax);
  };
  it.each<readonly [string, string | Uint8Array, object]>([
    ["text", "äx", { ok: true, text: "äx" }],
    ["bytes that are not text", Uint8Array.from([0xff, 0xfe, 0]), { ok: false, code: "syntax" }],
    ["too much", "x".repeat(101), { ok: false, code: "too_large" }],
  ])("%s", (_what, content, expected) => {
    put("a.md");
    writeFileSync(join(folder(), "a.md"), content);
    expect(read()).toMatchObject(expected);
  });

  test("a folder that has become a link is not followed", () => {
    put("d/a.md");
    mkdirSync(join(base, "d"));
    writeFileSync(join(base, "d", "a.md"), "secret");
    const [file] = listRecords(workspace, FUTURE).files;
    rmSync(join(folder(), "d"), { recursive: true });
    symlinkSync(join(base, "d"), join(folder(), "d"));
    expect(file === undefined ? null : readListed(folder(), file, 100)).toMatchObject({ ok: false });
  });

  test("a file that was rewritten is read as it is now", () => {
    const path = put("a.md", "old");
    const [file] = listRecords(workspace, FUTURE).files;
    rmSync(path);
    put("a.md", "new, and longer");
    expect(file === undefined ? null : readListed(folder(), file, 100)).toEqual({ ok: true, text: "new, and longer" });
  });

  test("a file that has become a link is not followed", () => {
    const path = put("a.md");
    writeFileSync(join(base, "secret.md"), "secret");
    const [file] = listRecords(workspace, FUTURE).files;
    rmSync(path);
    symlinkSync(join(base, "secret.md"), path);
    expect(file === undefined ? null : readListed(folder(), file, 100)).toMatchObject({ ok: false });
  });
});

describe("a new record is complete and replaces nothing", () => {
  test("with its parent folders", () => {
    expect(createRecord(workspace, ["a", "b", "c"], "text")).toMatchObject({ ok: true });
    expect(readFileSync(join(workspace, RECORDS, "a/b/c.md"), "utf8")).toBe("text");
    expect(readdirSync(join(workspace, RECORDS, "a/b"))).toEqual(["c.md"]);
  });

  it.each<readonly [string, () => void]>([
    ["a file", () => put("x.md", "old")],
    ["a link to nothing", () => symlinkSync(join(base, "made.md"), join(workspace, RECORDS, "x.md"))],
    ["a folder", () => mkdirSync(join(workspace, RECORDS, "x.md"))],
  ])("not over %s", (_what, make) => {
    make();
    expect(createRecord(workspace, ["x"], "new")).toMatchObject({
      ok: false,
      message: expect.stringContaining("already exists"),
    });
    expect(existsSync(join(base, "made.md"))).toBe(false);
  });

  it.each<readonly [string, readonly string[], () => void]>([
    ["a folder that is a link", ["out", "x"], () => symlinkSync(base, join(workspace, RECORDS, "out"))],
    ["a folder that is a file", ["out", "x"], () => put("out", "file")],
    [
      "a records folder that is a link",
      ["x"],
      () => {
        rmSync(join(workspace, RECORDS), { recursive: true });
        symlinkSync(base, join(workspace, RECORDS));
      },
    ],
  ])("not through %s", (_what, segments, make) => {
    make();
    expect(createRecord(workspace, segments, "new")).toMatchObject({ ok: false });
    expect(readdirSync(base)).toEqual(["w"]);
  });
});

describe("the cache", () => {
  test("is restored as saved, for its workspace only, readable only by its owner", () => {
    const state = join(base, "state");
    recordCache(state, "/a").save("text");
    expect([recordCache(state, "/a").load(), recordCache(state, "/b").load()]).toEqual(["text", null]);
  });

  test("that cannot be written or read counts as none", () => {
    writeFileSync(join(base, "file"), "");
    const cache = recordCache(join(base, "file"), "/a");
    cache.save("text");
    expect([cache.load(), recordCache(null, "/a").load()]).toEqual([null, null]);
  });
});
