import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readTextFile } from "./files.ts";

const makePipe = "mkfifo";
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-files-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);

describe("a text file is read whole, and refused one character over the limit", () => {
  it.each([
    ["", "a", 0],
    ["abc", "abcd", 3],
    ["äöü", "äöüx", 3],
    ["€€€", "€€€€", 3],
    ["😀", "😀x", 2],
    ["x".repeat(200_000), "x".repeat(200_001), 200_000],
  ])("%#", (text, more, charactersMax) => {
    expect(readTextFile(file("a", text), charactersMax)).toEqual({ ok: true, text });
    expect(readTextFile(file("a", more), charactersMax)).toMatchObject({ ok: false, code: "too_large" });
  });

  it.each([
    ["UTF-8", bytes(0xc3, 0xa4), bytes(0xc3, 0x28)],
    ["an overlong form", bytes(0x2f), bytes(0xc0, 0xaf)],
    ["half a character", bytes(0xed, 0x9f, 0xbf), bytes(0xed, 0xa0, 0x80)],
    ["an end in the middle", bytes(0xe2, 0x82, 0xac), bytes(0xe2, 0x82)],
  ])("%s", (_rule, good, bad) => {
    expect(readTextFile(file("a", good), 100).ok).toBe(true);
    expect(readTextFile(file("a", bad), 100)).toMatchObject({ ok: false, code: "not_utf8" });
  });

  it("a byte order mark is part of the text, and so is a NUL", () => {
    expect(readTextFile(file("a", "\uFEFFa\0"), 100)).toEqual({ ok: true, text: "\uFEFFa\0" });
  });

  it("a link to a file is that file; the size a file claims is not trusted", () => {
    symlinkSync(file("target", "x"), join(folder, "link"));
    expect(readTextFile(join(folder, "link"), 10)).toEqual({ ok: true, text: "x" });
    if (process.platform === "linux")
      expect(readTextFile("/proc/self/status", 100_000)).toMatchObject({
        ok: true,
        text: expect.stringContaining("Pid:"),
      });
  });

  it("a sparse file of a gigabyte uses no gigabyte of memory", () => {
    truncateSync(file("sparse", ""), 1_000_000_000);
    const before = process.memoryUsage().rss;
    expect(readTextFile(join(folder, "sparse"), 1000)).toMatchObject({ ok: false, code: "too_large" });
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });
});

describe("what is not a regular file is refused at once", () => {
  it("a folder", () => {
    mkdirSync(join(folder, "folder"));
    expect(readTextFile(join(folder, "folder"), 10)).toMatchObject({ ok: false, code: "not_a_file" });
  });

  it("a pipe without a writer", () => {
    expect(spawnSync(makePipe, [join(folder, "pipe")]).status).toBe(0);
    symlinkSync(join(folder, "pipe"), join(folder, "to-pipe"));
    for (const name of ["pipe", "to-pipe"])
      expect(readTextFile(join(folder, name), 10)).toMatchObject({ ok: false, code: "not_a_file" });
  });

  it("a socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, "socket"), resolve));
    expect(readTextFile(join(folder, "socket"), 10)).toMatchObject({ ok: false, code: "not_a_file" });
    server.close();
  });

  it.each(["/dev/zero", "/dev/null", "/dev/tty", "/dev/stdin"])("%s", (path) => {
    expect(readTextFile(path, 10)).toMatchObject({ ok: false });
  });

  it.each([
    ["nowhere", "not_found"],
    ["nowhere/below", "not_found"],
    ["a/below", "not_found"],
    ["a\0b", "not_readable"],
    ["x".repeat(5000), "not_readable"],
  ])("%#", (name, code) => {
    file("a", "x");
    expect(readTextFile(join(folder, name), 10)).toMatchObject({ ok: false, code });
  });

  it("a link to itself", () => {
    symlinkSync("loop", join(folder, "loop"));
    expect(readTextFile(join(folder, "loop"), 10)).toMatchObject({ ok: false, code: "not_readable" });
  });
});
