// Hostile names and sizes of files.
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileEntry, FileResult } from "../../src/core/ports/files.ts";
import { bytes, filesIn, newFolder, path, said, text } from "./fixture.ts";
import { nativeMissing } from "./native.ts";

function names(result: FileResult<readonly FileEntry[]>): readonly (string | undefined)[] {
  return result.ok ? result.value.map((entry) => entry.path.at(-1)) : [said(result)];
}

describe.skipIf(nativeMissing() !== null)("names", () => {
  test("with any valid character are read, written and listed", async () => {
    const root = newFolder();
    const odd = ["new\nline", "tab\t", "'quote\"", "back\\slash", "*", "-rf", "é", "🜁", " ", "...", "a".repeat(255)];
    for (const name of odd) writeFileSync(join(root, name), name);
    const files = filesIn({
      granted: [
        ["read", root],
        ["write", root],
      ],
    });
    for (const name of odd) expect(await text(files, join(root, name))).toBe(name);
    expect([...names(await files.list(path(root), 100))].sort()).toEqual([...odd].sort());
    expect(said(await files.write([...path(root), "also\nnew"], bytes("x")))).toBe("done");
  });

  test("that are not UTF-8 are left out and counted", async () => {
    const root = newFolder();
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe, 0x61])]), "needle");
    writeFileSync(join(root, "\uFFFD"), "needle");
    writeFileSync(join(root, "text"), "needle");
    const files = filesIn({ granted: [["read", root]] });
    expect(names(await files.list(path(root), 10))).toEqual(["text", "\uFFFD"]);
    expect(names(await files.glob(path(root), "**", 10))).toEqual(["text", "\uFFFD"]);
    const found = await files.search(path(root), "needle", 10);
    expect(found.ok && found.value.map((match) => match.path.at(-1))).toEqual(["text", "\uFFFD"]);
    expect(files.leftOut).toBe(3);
  });

  test("too long for a name are refused by the kernel, and too long for a path by us", async () => {
    const root = newFolder();
    const files = filesIn({
      granted: [
        ["read", root],
        ["write", root],
      ],
    });
    expect(await text(files, join(root, "a".repeat(256)))).toBe("not_available: ENAMETOOLONG");
    expect(said(await files.write(path(join(root, "a".repeat(256))), bytes("x")))).toBe("not_available: ENAMETOOLONG");
    expect(await text(files, `${root}${"/abc".repeat(1200)}`)).toBe("not_available: ENAMETOOLONG");
    expect(await text(files, `${root}${"/🜁🜁🜁".repeat(400)}`)).toBe("not_available: ENAMETOOLONG");
  });
});

describe.skipIf(nativeMissing() !== null)("sizes", () => {
  test("a tree deeper than the longest path is walked as far as a path reaches", async () => {
    const root = newFolder();
    // Made by changing into each folder, since no path reaches the end.
    const script =
      "process.chdir(process.argv[1]); const fs = require('fs');" +
      "for (let at = 0; at < 400; at++) { fs.mkdirSync('d'.repeat(20)); process.chdir('d'.repeat(20)); fs.writeFileSync('leaf', ''); }";
    execFileSync(process.execPath, ["-e", script, root]);
    const files = filesIn({ granted: [["read", root]] });
    const found = await files.glob(path(root), "**/leaf", 1_000);
    expect(found.ok && found.value.length).toBeGreaterThan(100);
    expect(found.ok && found.value.length).toBeLessThan(256);
    execFileSync("rm", ["-rf", root]);
  });

  test("a folder with more entries than fit in one response is cut off, and its subfolders can still be listed", async () => {
    const root = newFolder();
    const long = "n".repeat(245);
    for (let at = 0; at < 6; at++) {
      mkdirSync(join(root, `part-${at}`));
      for (let file = 0; file < 800; file++) writeFileSync(join(root, `part-${at}`, `${long}-${file}`), "");
    }
    const files = filesIn({ granted: [["read", root]] });
    const all = await files.glob(path(root), "**", 100_000);
    expect(all.ok && all.value.length).toBe(4_800);
    expect(names(await files.glob(path(root), "part-3/*-799", 10))).toEqual([`${long}-799`]);
    const few = await files.glob(path(root), "**", 7);
    expect(few.ok && few.value.length).toBe(7);
    const listed = await files.list(path(join(root, "part-0")), 20);
    expect(listed.ok && listed.value.length).toBe(20);
  });

  test("a sparse file of a terabyte is read at any offset", async () => {
    const root = newFolder();
    const size = 2 ** 40;
    const file = openSync(join(root, "sparse"), "w");
    ftruncateSync(file, size);
    writeSync(file, "end", size - 3);
    closeSync(file);
    const files = filesIn({ granted: [["read", root]], limits: { readBytesMax: 3_000_000 } });
    const at = [...path(root), "sparse"];
    expect(said(await files.read(at, { offset: size - 3, bytesMax: 10 }))).toBe("end");
    expect(await files.read(at, { offset: size, bytesMax: 10 })).toMatchObject({ ok: true, value: { length: 0 } });
    expect(await files.read(at, { offset: 0, bytesMax: size })).toMatchObject({
      ok: true,
      value: { length: 3_000_000 },
    });
    expect(said(await files.read(at, { offset: 2 ** 53, bytesMax: 1 }))).toBe("invalid_input: not a range");
    expect(said(await files.read(at, { offset: -1, bytesMax: 1 }))).toBe("invalid_input: not a range");
  });

  test("a long file is returned in pieces that fit together", async () => {
    const root = newFolder();
    const content = Buffer.alloc(5_000_003);
    for (let at = 0; at < content.length; at++) content[at] = (at * 7 + (at >> 12)) & 255;
    writeFileSync(join(root, "long"), content);
    const files = filesIn({ granted: [["read", root]] });
    const read = await files.read([...path(root), "long"], { offset: 0, bytesMax: 10_000_000 });
    expect(read.ok && Buffer.compare(Buffer.from(read.value), content)).toBe(0);
    const part = await files.read([...path(root), "long"], { offset: 1_048_000, bytesMax: 2_000_000 });
    expect(part.ok && Buffer.compare(Buffer.from(part.value), content.subarray(1_048_000, 3_048_000))).toBe(0);
  });

  test("content longer than a frame is refused before anything is changed", async () => {
    const root = newFolder();
    const files = filesIn({
      granted: [
        ["read", root],
        ["write", root],
      ],
    });
    const most = Buffer.alloc(1_044_468, 97);
    expect(said(await files.write(path(join(root, "most")), most))).toBe("done");
    expect(await files.stat(path(join(root, "most")))).toMatchObject({ ok: true, value: { bytes: most.length } });
    expect(said(await files.write(path(join(root, "more")), Buffer.alloc(most.length + 1)))).toMatch(/^invalid_input/);
  });
});

describe.skipIf(nativeMissing() !== null)("a search", () => {
  test("returns lines with their numbers, long ones truncated, zero bytes as spaces", async () => {
    const root = newFolder();
    writeFileSync(join(root, "a"), "one\nneedle two needle\n\nthree needle");
    writeFileSync(join(root, "b"), `${"x".repeat(5_000)}needle${"y".repeat(5_000)}\nno\n`);
    writeFileSync(join(root, "c"), Buffer.from("bin\0needle\0end\r\n"));
    mkdirSync(join(root, "empty"));
    const files = filesIn({ granted: [["read", root]] });
    const found = await files.search(path(root), "needle", 10);
    if (!found.ok) throw new Error(found.reason);
    expect(found.value.map(({ path: at, line }) => [at.at(-1), line])).toEqual([
      ["a", 2],
      ["a", 4],
      ["b", 1],
      ["c", 1],
    ]);
    expect(found.value[2]?.text).toMatch(/^x+needley+$/);
    expect(found.value[2]?.text.length).toBe(512);
    expect(found.value[3]?.text).toBe("bin needle end\r");
    expect(await files.search(path(join(root, "a")), "three", 10)).toMatchObject({ ok: true, value: [{ line: 4 }] });
    for (const text of ["", "a\nb", "a\0", "x".repeat(300)])
      expect(said(await files.search(path(root), text, 10))).toMatch(/^invalid_input/);
  });

  test("is not exhausted by files that are not granted", async () => {
    const root = newFolder();
    mkdirSync(join(root, "closed"));
    for (let at = 0; at < 300; at++) writeFileSync(join(root, "closed", `c-${at}`), "needle\n".repeat(20));
    mkdirSync(join(root, "open"));
    writeFileSync(join(root, "open/z"), "needle");
    const files = filesIn({ granted: [["read", root, [".", "open/**"]]] });
    const found = await files.search(path(root), "needle", 5);
    expect(found.ok && found.value.map((match) => match.path.at(-1))).toEqual(["z"]);
    expect(files.leftOut).toBeGreaterThan(0);
  });
});
