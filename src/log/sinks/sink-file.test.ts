import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Sink } from "../../core/ports/stores/sink.ts";
import { FileSink } from "./sink-file.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-sink-")));
  path = join(folder, "copy");
});
const sinks: Sink[] = [];
afterEach(() => {
  for (const sink of sinks.splice(0)) sink.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Lines are numbers here, and the first is `begin`. */
function sinkAt(at: string): Sink {
  const sink = new FileSink(at, {
    standing: (header, tail) =>
      header === "begin"
        ? {
            ok: true,
            value: {
              place: tail.length === 0 ? null : Number(tail.at(-1)),
              hash: null,
              note: null,
              first: 1,
              rotations: 0,
            },
          }
        : { ok: false, message: "is not a copy" },
    isTornHeader: (text, header) => header.startsWith(text.replace(/\0+$/, "")),
  });
  sinks.push(sink);
  return sink;
}
const nothing = (): boolean => true;

describe("a copy in a file", () => {
  it("that was closed while it opened is not open", async () => {
    const sink = sinkAt(path);
    const opening = sink.open("begin");
    sink.close();
    expect(await opening).toEqual({ ok: false, message: "it was closed" });
    expect(sink.trouble).not.toBeNull();
  });

  it.each<[string, () => void]>([
    ["removed", () => rmSync(path)],
    ["cut", () => truncateSync(path, 3)],
    ["written to", () => appendFileSync(path, "9\n")],
    [
      "replaced",
      () => renameSync(path, `${path}.old`) ?? writeFileSync(path, readFileSync(`${path}.old`), { mode: 0o600 }),
    ],
  ])("is detected as %s by a quick check", async (_, change) => {
    const sink = sinkAt(path);
    expect(await sink.look()).toBe("it is not open");
    expect(await sink.open("begin")).toMatchObject({ ok: true });
    expect(await sink.keep("1\n2\n", 2, nothing)).toMatchObject({ ok: true });
    expect(await sink.look()).toBeNull();
    change();
    expect(await sink.look()).toContain(path);
  });

  it("is created for its owner alone, appended to, and continued where it ended", async () => {
    const sink = sinkAt(path);
    expect(await sink.open("begin")).toMatchObject({ ok: true, value: { place: null } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await sink.keep("1\n2\n", 2, nothing)).toEqual({ ok: true, value: null });
    sink.close();
    expect(await sinkAt(path).open("begin")).toMatchObject({ ok: true, value: { place: 2 } });
    expect(readFileSync(path, "utf8")).toBe("begin\n1\n2\n");
  });

  it.each<readonly [string, string, number | null]>([
    ["begin\n1\n2\n3", "begin\n1\n2\n", 2],
    ["begin\n1\n\0\0\0\n3\n", "begin\n1\n", 1],
    ["begin\n1", "begin\n", null],
    ["beg", "begin\n", null],
    ["", "begin\n", null],
    ["\0".repeat(6), "begin\n", null],
  ])("%j is repaired to %j", async (torn, whole, place) => {
    writeFileSync(path, torn, { mode: 0o600 });
    expect(await sinkAt(path).open("begin")).toMatchObject({ ok: true, value: { place } });
    expect(readFileSync(path, "utf8")).toBe(whole);
  });

  it("longer than the window", async () => {
    writeFileSync(path, `begin\n${"1234567\n".repeat(500_000)}99\n12`, { mode: 0o600 });
    expect(await sinkAt(path).open("begin")).toMatchObject({ ok: true, value: { place: 99 } });
    expect(readFileSync(path, "utf8").endsWith("\n99\n")).toBe(true);
  });

  it.each<readonly [string, (at: string) => void, string]>([
    ["a folder", (at) => mkdirSync(at), "not a regular file"],
    ["a link", (at) => symlinkSync(join(folder, "elsewhere"), at), "is a symbolic link"],
    ["others can write", (at) => writeFileSync(at, "begin\n", { mode: 0o622 }), "is not a copy"],
    ["of something else", (at) => writeFileSync(at, "notes\n", { mode: 0o600 }), "is not a copy"],
    ["a second name", (at) => linked(at), "more than one hard link"],
  ])("%s: refused, and left unchanged", async (what, make, message) => {
    const umask = process.umask(0);
    make(path);
    process.umask(umask);
    const expected = what === "others can write" ? "writable by others" : message;
    expect(await sinkAt(path).open("begin")).toEqual({ ok: false, message: expect.stringContaining(expected) });
    if (what === "of something else") expect(readFileSync(path, "utf8")).toBe("notes\n");
  });

  it.each([
    ["zeros longer than a first line", "\0".repeat(7)],
    ["zeros followed by data far behind", `${"\0".repeat(3_000_000)}precious\n`],
    ["a beginning with more after it", "beginning"],
  ])("%s: refused, with every byte unchanged", async (_what, text) => {
    writeFileSync(path, text, { mode: 0o600 });
    expect(await sinkAt(path).open("begin")).toMatchObject({ ok: false });
    expect(readFileSync(path, "utf8") === text).toBe(true);
  });

  function linked(at: string): void {
    writeFileSync(join(folder, "first"), "begin\n", { mode: 0o600 });
    linkSync(join(folder, "first"), at);
  }

  it("a folder behind a link, or missing, is refused", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    expect(await sinkAt(join(folder, "link", "copy")).open("begin")).toMatchObject({ ok: false });
    expect(await sinkAt(join(folder, "none", "copy")).open("begin")).toEqual({
      ok: false,
      message: expect.stringContaining("mkdir"),
    });
  });

  function replaced(): void {
    renameSync(path, `${path}.old`);
    writeFileSync(path, "begin\n1\n", { mode: 0o600 });
  }

  it.each<readonly [string, () => void]>([
    ["cut", () => truncateSync(path, 6)],
    ["written to", () => appendFileSync(path, "x\n")],
    ["was moved", () => rmSync(path)],
    ["replaced", () => replaced()],
  ])("once it was %s by another process, nothing is appended", async (_what, change) => {
    const sink = sinkAt(path);
    await sink.open("begin");
    await sink.keep("1\n", 1, nothing);
    change();
    expect(await sink.keep("2\n", 2, nothing)).toMatchObject({ ok: false });
    expect(statSync(path, { throwIfNoEntry: false }) === undefined || !readFileSync(path, "utf8").includes("2\n")).toBe(
      true,
    );
    sink.close();
  });
});
