// Names that file tools never change, and finding files by name and by line.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { newFolder } from "../files/fixture.ts";
import { nativeMissing } from "../files/native.ts";
import { said, toolsIn, write } from "./files-fixture.ts";

const GATE = "scope_violation: by the gate";
const KEPT = /^self_modification: this path is protected from tools/;

describe.skipIf(nativeMissing() !== null)("file tools", () => {
  let root = "";
  beforeEach(() => {
    root = newFolder();
    for (const folder of ["src", "keys"]) mkdirSync(join(root, folder), { recursive: true });
    write(root, { "README.md": "# Title\n\nhello\n", "src/a.ts": "one\ntwo\none\n", "keys/id": "secret\n" });
  });
  const all = () =>
    toolsIn({
      granted: [
        ["read", root],
        ["write", root],
        ["delete", root],
      ],
      folder: root,
      protectedPaths: [join(root, "keys")],
    });

  describe("names that are never changed", () => {
    beforeEach(() => {
      for (const folder of [".git/hooks", ".ambit/agents", ".vscode", "sub/.git", "sub/.ambit", "real-settings"])
        mkdirSync(join(root, folder), { recursive: true });
      write(root, { ".git/config": "old", ".mcp.json": "old", ".vscode/settings.json": "old" });
    });

    test.each([
      [".git"],
      [".git/config"],
      [".git/hooks/pre-commit"],
      ["sub/.git/config"],
      [".ambit/config.yml"],
      [".ambit/agents/scout.md"],
      ["sub/.ambit/config.yml"],
      [".vscode/settings.json"],
      [".claude/settings.json"],
      [".bashrc"],
      ["node_modules/ambit/package.json"],
    ])("%s", async (path) => {
      const { call } = all();
      expect(await said(call("fs_write", { path, content: "x" }))).toMatch(KEPT);
      expect(await said(call("fs_delete", { path }))).toMatch(KEPT);
    });

    test("also by the target of a link, and through a link to a folder", async () => {
      symlinkSync("real-settings", join(root, ".idea"));
      symlinkSync(".git", join(root, "repository"));
      const { call } = all();
      expect(await said(call("fs_write", { path: "real-settings/workspace.xml", content: "x" }))).toMatch(KEPT);
      expect(await said(call("fs_write", { path: "repository/config", content: "x" }))).toMatch(
        /^scope_violation|^self_modification/,
      );
      expect(await said(call("fs_write", { path: "real-other", content: "x" }))).toMatchObject({ bytes: 1 });
      expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("old");
    });

    test("can be read as other files", async () => {
      expect(await said(all().call("fs_read", { path: ".git/config" }))).toMatchObject({ text: "old" });
      expect(await said(all().call("fs_read", { path: ".mcp.json" }))).toMatchObject({ text: "old" });
    });
  });

  describe("finding", () => {
    test("of a thousand files as many as requested are returned, and that there are more", async () => {
      mkdirSync(join(root, "many"));
      for (let at = 0; at < 1_000; at++)
        write(join(root, "many"), { [`f${String(at).padStart(4, "0")}.txt`]: `number ${at}\n` });
      const { call } = all();
      const listed = (await said(call("fs_list", { path: "many", limit: 5_000 }))) as {
        readonly entries: readonly unknown[];
      };
      expect(listed).toMatchObject({ more: false });
      expect(listed.entries).toHaveLength(1_000);
      expect(await said(call("fs_list", { path: "many", limit: 2 }))).toEqual({
        path: "many",
        entries: [
          { name: "f0000.txt", kind: "file" },
          { name: "f0001.txt", kind: "file" },
        ],
        more: true,
      });
      expect(await said(call("fs_glob", { pattern: "many/f000*.txt", limit: 3 }))).toEqual({
        in: ".",
        paths: ["many/f0000.txt", "many/f0001.txt", "many/f0002.txt"],
        more: true,
      });
      const globbed = (await said(call("fs_glob", { pattern: "**/*.txt", in: "many", limit: 1_000 }))) as {
        readonly paths: readonly string[];
      };
      expect(globbed).toMatchObject({ more: false });
      expect(new Set(globbed.paths).size).toBe(1_000);
      const found = (await said(call("fs_grep", { text: "number 99", limit: 5 }))) as {
        readonly matches: readonly unknown[];
      };
      expect(found).toMatchObject({ more: true });
      expect(found.matches).toHaveLength(5);
      expect(await said(call("fs_grep", { text: "number 999", in: "many" }))).toEqual({
        in: "many",
        matches: [{ path: "many/f0999.txt", line: 1, text: "number 999" }],
        more: false,
      });
    });

    test("a pattern excludes files from a search", async () => {
      write(root, { "src/b.md": "one\n" });
      const { call } = all();
      expect(await said(call("fs_grep", { text: "one", glob: "**/*.md" }))).toMatchObject({
        matches: [{ path: "src/b.md", line: 1, text: "one" }],
      });
      expect(await said(call("fs_grep", { text: "one", in: "src/a.ts" }))).toMatchObject({
        matches: [
          { path: "src/a.ts", line: 1 },
          { path: "src/a.ts", line: 3 },
        ],
      });
    });

    test("protected names are in no list, glob or search", async () => {
      const { call } = all();
      expect(JSON.stringify(await said(call("fs_list", {})))).not.toContain("keys");
      expect(await said(call("fs_glob", { pattern: "**" }))).toMatchObject({ paths: ["README.md", "src/a.ts"] });
      expect(await said(call("fs_grep", { text: "secret" }))).toMatchObject({ matches: [] });
      expect(await said(call("fs_list", { path: "keys" }))).toBe(GATE);
    });

    test("a pattern requests no more than the folder it begins in", async () => {
      const { call } = toolsIn({ granted: [["read", join(root, "src")]], folder: root });
      expect(await said(call("fs_glob", { pattern: "src/*.ts" }))).toMatchObject({ paths: ["src/a.ts"] });
      expect(await said(call("fs_glob", { pattern: "*/*.ts" }))).toBe(GATE);
      expect(await said(call("fs_grep", { text: "two", glob: "src/**" }))).toMatchObject({ matches: [{ line: 2 }] });
    });
  });
});
