// A new file is written completely, once, and only inside its folder.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeNew } from "./write-new.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-new-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("a missing file is written with its parent folders, and nothing is left beside it", () => {
  expect(writeNew(folder, "a/b/c.txt", "é\n")).toEqual({ ok: true, kind: "written" });
  expect(readFileSync(join(folder, "a/b/c.txt"), "utf8")).toBe("é\n");
  expect(readdirSync(join(folder, "a/b"))).toEqual(["c.txt"]);
});

test("an existing file is kept, whatever it is", () => {
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "a/file"), "mine");
  symlinkSync("nowhere", join(folder, "a/link"));
  for (const name of ["a/file", "a/link"]) expect(writeNew(folder, name, "yours")).toEqual({ ok: true, kind: "kept" });
  expect(readFileSync(join(folder, "a/file"), "utf8")).toBe("mine");
  expect(existsSync(join(folder, "a/nowhere"))).toBe(false);
});

test("a folder that is a link, or a file, is not followed", () => {
  mkdirSync(join(folder, "elsewhere"));
  symlinkSync("elsewhere", join(folder, ".ambit"));
  expect(writeNew(folder, ".ambit/agents/x.md", "")).toMatchObject({ ok: false });
  expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  writeFileSync(join(folder, "plain"), "");
  expect(writeNew(folder, "plain/x.md", "")).toMatchObject({ ok: false });
});

test("where nothing can be written the answer says so", () => {
  expect(writeNew(join(folder, "absent"), "a/x.md", "")).toMatchObject({
    ok: false,
    message: expect.stringContaining("ENOENT"),
  });
});
