// The size of a draft is what its files occupy, and an unreadable folder is an error.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { draftSize } from "./draft-size.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-size-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("counts files, folders and their disk usage", async () => {
  mkdirSync(join(folder, "a/b"), { recursive: true });
  writeFileSync(join(folder, "a/b/c"), "x".repeat(20_000));
  const { bytes, inodes } = await draftSize(folder);
  expect(inodes).toBe(3);
  expect(bytes).toBeGreaterThanOrEqual(20_000);
  expect(bytes).toBeLessThan(100_000);
});

test("counts several folders together", async () => {
  for (const name of ["a", "b"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "f"), "x".repeat(20_000));
  }
  const { bytes, inodes } = await draftSize(join(folder, "a"), join(folder, "b"), join(folder, "absent"));
  expect([inodes, bytes >= 40_000]).toEqual([2, true]);
});

test("counts a sparse file by its data", async () => {
  writeFileSync(join(folder, "sparse"), "");
  truncateSync(join(folder, "sparse"), 10 * 1024 ** 3);
  expect((await draftSize(folder)).bytes).toBeLessThan(100_000);
});

test("goes on while files disappear", async () => {
  const files = Array.from({ length: 500 }, (_, at) => join(folder, `f${at}`));
  for (const file of files) writeFileSync(file, "");
  const counted = draftSize(folder);
  for (const file of files) {
    await new Promise(setImmediate);
    rmSync(file);
  }
  expect((await counted).bytes).toBe(0);
});

test("is zero if there is no folder, and fails if there is something else", async () => {
  expect(await draftSize(join(folder, "absent"))).toEqual({ bytes: 0, inodes: 0 });
  writeFileSync(join(folder, "file"), "");
  await expect(draftSize(join(folder, "file"))).rejects.toThrow("ENOTDIR");
});
