// The file tools on a real disk: links, hard links, protected names, large and strange files.
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { newFolder } from "../files/fixture.ts";
import { nativeMissing } from "../files/native.ts";
import { said, toolsIn, write } from "./files-fixture.ts";

const OUTSIDE = "scope_violation: a symbolic link in the path leads outside your grants";
const GATE = "scope_violation: by the gate";
const NOT_THERE = "not_found: no such file or folder";

describe.skipIf(nativeMissing() !== null)("file tools", () => {
  let above = "";
  let root = "";
  beforeEach(() => {
    above = newFolder();
    root = join(above, "project");
    for (const folder of ["project/src/deep", "project/keys", "closed"])
      mkdirSync(join(above, folder), { recursive: true });
    write(root, { "README.md": "# Title\n\nhello\n", "src/a.ts": "one\ntwo\none\n", "keys/id": "secret\n" });
    write(above, { "closed/loot": "loot\n" });
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
  const reader = () => toolsIn({ granted: [["read", root]], folder: root });

  describe("fs_read", () => {
    test("returns a text with its lines, from a given one on, with numbers", async () => {
      const { call } = all();
      expect(await said(call("fs_read", { path: "README.md" }))).toEqual({
        path: "README.md",
        kind: "text",
        text: "# Title\n\nhello\n",
        offset: 0,
        lines: 3,
        more: false,
      });
      expect(await said(call("fs_read", { path: "src/a.ts", offset: 1, limit: 1, numbers: true }))).toMatchObject({
        text: "2\ttwo\n",
        lines: 1,
        more: true,
        next: 2,
      });
      expect(await said(call("fs_read", { path: "src/a.ts", offset: 99 }))).toMatchObject({
        text: "",
        lines: 0,
        more: false,
      });
    });

    test("every read is untrusted, and no write is", async () => {
      for (const [tool, input] of [
        ["fs_read", { path: "README.md" }],
        ["fs_list", {}],
        ["fs_glob", { pattern: "*" }],
        ["fs_grep", { text: "one" }],
        ["fs_edit", { path: "src/a.ts", edits: [{ old: "two", new: "2" }] }],
      ] as const) {
        const { call, session } = all();
        expect([tool, await call(tool, input)]).toMatchObject([tool, { ok: true }]);
        expect([tool, session.isClean]).toEqual([tool, false]);
      }
      const { call, session } = all();
      expect(await call("fs_write", { path: "new", content: "" })).toMatchObject({ ok: true });
      expect(await call("fs_delete", { path: "new" })).toMatchObject({ ok: true });
      expect(session.isClean).toBe(true);
    });

    test("a large file is returned in parts that together are the whole", async () => {
      const lines = Array.from({ length: 30_000 }, (_, at) => `line ${at} ${"x".repeat(at % 90)}\n`);
      write(root, { large: lines.join("") });
      const { call } = all();
      let text = "";
      let offset = 0;
      for (let rounds = 0; rounds < 100; rounds++) {
        const value = (await said(call("fs_read", { path: "large", offset, limit: 10_000 }))) as {
          readonly text: string;
          readonly more: boolean;
          readonly next?: number;
        };
        text += value.text;
        offset = value.next ?? 0;
        if (!value.more) break;
      }
      expect(text === lines.join("")).toBe(true);
    });

    test("a sparse file of a hundred megabytes fills neither the response nor memory", async () => {
      write(root, { huge: "first\n", text: "a".repeat(300_000) });
      truncateSync(join(root, "huge"), 100 * 1_048_576);
      const { call } = all();
      const value = (await said(call("fs_read", { path: "huge", limit: 10 }))) as { readonly base64: string };
      expect(value).toMatchObject({ kind: "binary", bytes: 10, more: true, next: 10 });
      expect(Buffer.from(value.base64, "base64").toString("latin1")).toBe("first\n\0\0\0\0");
      const long = (await said(call("fs_read", { path: "text" }))) as { readonly text: string };
      expect(long).toMatchObject({ more: true, next: 1, lines: 1, cut: expect.stringContaining("too long") });
      expect(long.text).toBe("a".repeat(131_072));
    });

    test("binary bytes are returned unchanged", async () => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
      write(root, { binary: bytes });
      const { call } = all();
      const first = (await said(call("fs_read", { path: "binary" }))) as { readonly base64: string };
      expect(first).toMatchObject({ kind: "binary", bytes: 65_536, more: true, next: 65_536 });
      const rest = (await said(call("fs_read", { path: "binary", offset: 65_536 }))) as { readonly base64: string };
      expect(rest).toMatchObject({ bytes: 4_464, more: false });
      const whole = Buffer.concat([first, rest].map(({ base64 }) => Buffer.from(base64, "base64")));
      expect(whole.equals(bytes)).toBe(true);
    });

    test("a file that is not UTF-8 is shown with a note, and is not edited", async () => {
      write(root, { latin: Buffer.from("caf\xe9\n", "latin1"), mark: "\uFEFFa\n" });
      const { call } = all();
      expect(await said(call("fs_read", { path: "latin" }))).toMatchObject({
        text: "caf\uFFFD\n",
        note: expect.any(String),
      });
      expect(await said(call("fs_edit", { path: "latin", edits: [{ old: "caf", new: "tea" }] }))).toMatch(
        /^not_available: the file is not UTF-8/,
      );
      expect(readFileSync(join(root, "latin")).toString("latin1")).toBe("caf\xe9\n");
      expect(await said(call("fs_edit", { path: "mark", edits: [{ old: "a", new: "b" }] }))).toMatchObject({
        bytes: 5,
      });
      expect(readFileSync(join(root, "mark"), "utf8")).toBe("\uFEFFb\n");
    });

    test.each([
      ["none", NOT_THERE],
      ["src", "not_available: it is a folder; use fs_list"],
      ["README.md/x", "not_available: a part of the path is a file, not a folder"],
      ["../closed/loot", GATE],
      ["/etc/passwd", GATE],
      ["~/x", "invalid_input: `~` cannot be resolved: there is no home folder"],
      ["keys/id", GATE],
      ["src/../keys/id", GATE],
      ["/proc/self/environ", GATE],
    ])("%s is refused: %s", async (path, expected) => {
      expect(await said(all().call("fs_read", { path }))).toBe(expected);
    });
  });

  describe("symbolic links", () => {
    beforeEach(() => {
      const links: Readonly<Record<string, string>> = {
        inside: "src/a.ts",
        outside: "../closed/loot",
        absolute: join(above, "closed/loot"),
        folder: "../closed",
        dangling: "nowhere",
        away: "/nowhere/at/all",
        ring: "ring",
        root: "/",
        keys: "keys/id",
      };
      mkdirSync(join(root, "links"));
      for (const [name, target] of Object.entries(links))
        symlinkSync(target.startsWith("/") || target === name ? target : join("..", target), join(root, "links", name));
    });

    test.each([
      ["inside", /^$/],
      ["outside", OUTSIDE],
      ["absolute", OUTSIDE],
      ["folder/loot", OUTSIDE],
      ["dangling", NOT_THERE],
      ["away", OUTSIDE],
      ["ring", OUTSIDE],
      ["root/etc/passwd", OUTSIDE],
      ["keys", OUTSIDE],
    ])("a read of links/%s", async (name, expected) => {
      const answer = await said(all().call("fs_read", { path: `links/${name}` }));
      if (typeof expected === "string") expect(answer).toBe(expected);
      else expect(answer).toMatchObject({ text: "one\ntwo\none\n" });
    });

    test("nothing is written or edited through a link, and a delete removes the link alone", async () => {
      const { call } = all();
      for (const name of ["inside", "outside", "absolute", "dangling", "away", "ring"]) {
        expect(await said(call("fs_write", { path: `links/${name}`, content: "x" }))).toMatch(/^scope_violation/);
        expect(
          await said(call("fs_edit", { path: `links/${name}`, edits: [{ old: "o", new: "x", all: true }] })),
        ).toMatch(/^scope_violation/);
      }
      expect(await said(call("fs_write", { path: "links/folder/new", content: "x" }))).toBe(OUTSIDE);
      expect(await said(call("fs_delete", { path: "links/folder/loot" }))).toBe(OUTSIDE);
      expect(await said(call("fs_delete", { path: "links/outside" }))).toMatchObject({ deleted: true });
      expect(readFileSync(join(above, "closed/loot"), "utf8")).toBe("loot\n");
      expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("one\ntwo\none\n");
      expect(readdirSync(join(above, "closed"))).toEqual(["loot"]);
    });

    test("no list, glob or search shows the target of a link that leads out", async () => {
      const { call } = all();
      expect(await said(call("fs_list", { path: "links/folder" }))).toBe(OUTSIDE);
      expect(await said(call("fs_glob", { pattern: "**/loot" }))).toMatchObject({ paths: [] });
      expect(await said(call("fs_glob", { pattern: "loot", in: "links/folder" }))).toBe(OUTSIDE);
      expect(await said(call("fs_grep", { text: "loot" }))).toMatchObject({ matches: [] });
      expect(await said(call("fs_grep", { text: "loot", in: "links/folder" }))).toBe(OUTSIDE);
    });

    test("a hard link to a file outside is not read unless the whole tree is granted, and never written in place", async () => {
      linkSync(join(above, "closed/loot"), join(root, "src/hard"));
      const { call } = all();
      expect(await said(call("fs_read", { path: "src/hard" }))).toMatch(/^scope_violation/);
      await call("fs_write", { path: "src/hard", content: "mine" });
      expect(readFileSync(join(above, "closed/loot"), "utf8")).toBe("loot\n");
    });
  });

  describe("changes", () => {
    test("a new file, a replacement, and an edit leave nothing else behind", async () => {
      const { call } = all();
      expect(await said(call("fs_write", { path: "new.txt", content: "ä\n" }))).toEqual({ path: "new.txt", bytes: 3 });
      writeFileSync(join(root, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
      await call("fs_write", { path: "run.sh", content: "#!/bin/sh\ntrue\n" });
      expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755);
      expect(await said(call("fs_edit", { path: "src/a.ts", edits: [{ old: "one", new: "1" }] }))).toMatch(
        /^invalid_input: edit 1: `old` is in the file 2 times \(lines 1, 3\)/,
      );
      expect(
        await said(
          call("fs_edit", {
            path: "src/a.ts",
            edits: [
              { old: "two", new: "2" },
              { old: "zwei", new: "" },
            ],
          }),
        ),
      ).toMatch(/^invalid_input: edit 2: .*nothing was changed$/);
      expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("one\ntwo\none\n");
      expect(await said(call("fs_edit", { path: "src/a.ts", edits: [{ old: "one", new: "1", all: true }] }))).toEqual({
        path: "src/a.ts",
        edits: [{ replaced: 2, line: 1 }],
        bytes: 8,
      });
      expect(readdirSync(join(root, "src")).sort()).toEqual(["a.ts", "deep"]);
      expect(readdirSync(root).sort()).toEqual(["README.md", "keys", "new.txt", "run.sh", "src"]);
    });

    test("missing parent folders are created with a person's usual mode, and only where they are granted", async () => {
      const { call } = all();
      expect(await said(call("fs_write", { path: "new/of/us/file", content: "x" }))).toEqual({
        path: "new/of/us/file",
        bytes: 1,
      });
      expect(readFileSync(join(root, "new/of/us/file"), "utf8")).toBe("x");
      expect(statSync(join(root, "new/of")).mode & 0o777).toBe(0o755);
      expect(statSync(join(root, "new/of/us/file")).mode & 0o777).toBe(0o644);
      rmSync(join(root, "new"), { recursive: true });
      symlinkSync(join(root, "../closed"), join(root, "way"));
      expect(await said(call("fs_write", { path: "way/made/file", content: "x" }))).toMatch(/^scope_violation: /);
      expect(existsSync(join(root, "../closed/made"))).toBe(false);
      rmSync(join(root, "way"));
    });

    test.each([
      [
        "fs_write",
        { path: "src/a.ts/below", content: "" },
        "not_available: a part of the path is a file, not a folder",
      ],
      ["fs_write", { path: "keys/more/id", content: "" }, GATE],
      ["fs_write", { path: "src", content: "" }, /^not_available: /],
      ["fs_write", { path: "keys/id", content: "" }, GATE],
      ["fs_write", { path: "../closed/x", content: "" }, GATE],
      ["fs_delete", { path: "src" }, "not_available: the folder is not empty; delete its content first"],
      ["fs_delete", { path: "none" }, NOT_THERE],
      ["fs_delete", { path: "keys/id" }, GATE],
      ["fs_edit", { path: "none", edits: [{ old: "a", new: "b" }] }, NOT_THERE],
      ["fs_edit", { path: "src", edits: [{ old: "a", new: "b" }] }, "not_available: it is a folder; use fs_list"],
    ])("%s %j is refused", async (tool, input, expected) => {
      const answer = await said(all().call(tool, input));
      if (typeof expected === "string") expect(answer).toBe(expected);
      else expect(answer).toMatch(expected);
    });

    test("with a read grant alone nothing is changed", async () => {
      const { call } = reader();
      for (const [tool, input] of [
        ["fs_write", { path: "README.md", content: "x" }],
        ["fs_edit", { path: "README.md", edits: [{ old: "hello", new: "x" }] }],
        ["fs_delete", { path: "README.md" }],
      ] as const)
        expect(await said(call(tool, input))).toBe("capability_absent: by the gate");
      expect(readFileSync(join(root, "README.md"), "utf8")).toBe("# Title\n\nhello\n");
    });

    test("with a write grant alone nothing is read", async () => {
      const { call } = toolsIn({ granted: [["write", root]], folder: root });
      expect(await said(call("fs_read", { path: "README.md" }))).toBe("capability_absent: by the gate");
      expect(await said(call("fs_edit", { path: "README.md", edits: [{ old: "hello", new: "x" }] }))).toBe(
        "capability_absent: by the gate",
      );
      expect(await said(call("fs_write", { path: "README.md", content: "x" }))).toMatchObject({ bytes: 1 });
    });

    test("two concurrent edits of one file are both in it", async () => {
      const words = Array.from({ length: 20 }, (_, at) => `word${at}.`);
      write(root, { words: words.join("\n") });
      const { call } = all();
      const edits = words.map((word) =>
        call("fs_edit", { path: "words", edits: [{ old: word, new: word.toUpperCase() }] }),
      );
      expect((await Promise.all(edits)).every(({ ok }) => ok)).toBe(true);
      expect(readFileSync(join(root, "words"), "utf8")).toBe(words.join("\n").toUpperCase());
    });
  });

  test("relative names begin in the agent's own root if the session's folder is outside it", async () => {
    const outside = toolsIn({ granted: [["read", root]], folder: above, workingRoot: root });
    expect(await said(outside.call("fs_read", { path: "README.md" }))).toMatchObject({ path: "README.md", lines: 3 });
    const inside = toolsIn({ granted: [["read", root]], folder: join(root, "src"), workingRoot: root });
    expect(await said(inside.call("fs_read", { path: "a.ts" }))).toMatchObject({ path: "a.ts" });
    expect(await said(inside.call("fs_read", { path: "../README.md" }))).toMatchObject({
      path: join(root, "README.md"),
    });
  });
});
