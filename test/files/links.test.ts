// Symbolic links: followed only to granted targets, and decided there again. Never followed by a write or a delete.
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bytes, filesIn, newFolder, path, said, text } from "./fixture.ts";
import { nativeMissing } from "./native.ts";

describe.skipIf(nativeMissing() !== null)("symbolic links", () => {
  let root: string;
  let open: string;
  beforeAll(() => {
    root = newFolder();
    open = join(root, "open");
    for (const folder of ["open/sub/deep", "open/keys", "closed", "openx"])
      mkdirSync(join(root, folder), { recursive: true });
    const files = { "open/plain": "plain", "open/sub/inner": "inner", "open/keys/id": "id", "closed/loot": "loot" };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
    const links: Readonly<Record<string, string>> = {
      "relative": "sub/inner",
      "absolute": join(open, "sub/inner"),
      "folder": "sub",
      "folder-slash": "sub/",
      "chain": "relative",
      "chain-out": "out-file",
      "out-file": "../closed/loot",
      "out-absolute": join(root, "closed/loot"),
      "out-folder": "../closed",
      "beside": "../openx",
      "up-and-back": "../open/plain",
      "through-closed": "../closed/../open/plain",
      "dangling": join(root, "nowhere"),
      "dangling-inside": "sub/not-yet",
      "dangling-far": "sub/no/such/way",
      "loop": "loop",
      "ring-one": "ring-two",
      "ring-two": "ring-one",
      "to-keys": "keys/id",
      "to-keys-folder": "keys",
      "to-file-slash": "plain/",
      "magic": "/proc/self/root",
      "magic-fd": "/proc/self/fd/3",
      "root": "/",
      "self": ".",
      "sub/up": "..",
      "sub/back": "../../open/sub/inner",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(open, name));
    symlinkSync("open", join(root, "alias"));
    symlinkSync("open/keys", join(root, "alias-keys"));
    for (let at = 0; at < 12; at++) symlinkSync(at === 0 ? "plain" : `hop-${at - 1}`, join(open, `hop-${at}`));
  });

  const outside = "scope_violation: link leads outside";

  test.each([
    ["plain", "plain"],
    ["relative", "inner"],
    ["absolute", "inner"],
    ["folder/inner", "inner"],
    ["folder-slash/inner", "inner"],
    ["chain", "inner"],
    ["up-and-back", "plain"],
    ["through-closed", "plain"],
    ["self/plain", "plain"],
    ["self/self/self/plain", "plain"],
    ["sub/up/plain", "plain"],
    ["sub/back", "inner"],
    ["hop-11", "plain"],
    ["to-file-slash", "plain"],
    ["dangling-inside", "not_available: ENOENT"],
    ["dangling-far", "not_available: ENOENT"],
    ["relative/x", "not_available: ENOTDIR"],
    ["folder", "not_available: EISDIR: not a plain file"],
    ["out-file", outside],
    ["out-absolute", outside],
    ["out-folder/loot", outside],
    ["out-folder/none", outside],
    ["out-folder/loot/x", outside],
    ["chain-out", outside],
    ["beside/x", outside],
    ["dangling", outside],
    ["dangling/x/y", outside],
    ["loop", outside],
    ["ring-one", outside],
    ["ring-one/x", outside],
    ["magic/etc/passwd", outside],
    ["magic-fd", outside],
    ["root/etc/passwd", outside],
    ["to-keys", outside],
    ["to-keys-folder/id", outside],
    ["keys/id", "scope_violation: not granted"],
  ])("a read of %s gives %s", async (name, expected) => {
    const files = filesIn({ granted: [["read", open]], protectedPaths: [join(open, "keys")] });
    expect(await text(files, join(open, name))).toBe(expected);
  });

  test("a protected path is read through a link if a grant names it", async () => {
    const files = filesIn({
      granted: [
        ["read", open],
        ["read", join(open, "keys")],
      ],
      protectedPaths: [join(open, "keys")],
    });
    expect(await text(files, join(open, "to-keys"))).toBe("id");
  });

  test("the target of a link is matched against patterns, too", async () => {
    const files = filesIn({ granted: [["read", open, ["relative", "up-and-back", "plain"]]] });
    expect(await text(files, join(open, "up-and-back"))).toBe("plain");
    expect(await text(files, join(open, "relative"))).toBe(outside);
  });

  test("a link to a path that needs approval needs approval", async () => {
    const files = filesIn({
      granted: [
        ["read", open],
        ["read", join(root, "closed"), undefined, 1],
      ],
    });
    expect(await text(files, join(open, "out-file"))).toBe("approval_required: not granted without approval");
    expect(await text(files, join(root, "closed/loot"))).toBe("approval_required: not granted without approval");
  });

  test("a granted tree that is a link is its target, under the granted name", async () => {
    const files = filesIn({ granted: [["read", join(root, "alias")]], protectedPaths: [join(open, "keys")] });
    expect(await text(files, join(root, "alias/plain"))).toBe("plain");
    expect(await text(files, join(root, "alias/absolute"))).toBe("inner");
    expect(await text(files, join(root, "alias/out-file"))).toBe(outside);
    expect(await text(files, join(root, "alias/keys/id"))).toBe("scope_violation: not granted");
    expect(await text(files, join(open, "plain"))).toBe("scope_violation: in none of the open trees");
  });

  test("a granted tree whose name is a link into a protected path is closed", async () => {
    const granted = [["read", join(root, "alias-keys")]] as const;
    expect(await text(filesIn({ granted }), join(root, "alias-keys/id"))).toBe("id");
    const files = filesIn({ granted, protectedPaths: [join(open, "keys")] });
    expect(await text(files, join(root, "alias-keys/id"))).toBe("scope_violation: protected");
  });

  test("a write goes through a link to a folder if both names are granted, and never through a link to a file", async () => {
    const files = filesIn({ granted: [["write", open]] });
    expect(said(await files.write(path(join(open, "folder/new")), bytes("new")))).toBe("done");
    expect(readFileSync(join(open, "sub/new"), "utf8")).toBe("new");
    const refused = "scope_violation: a link is not written through";
    for (const name of ["relative", "out-file", "dangling", "dangling-inside", "loop"]) {
      expect(said(await files.write(path(join(open, name)), bytes("x")))).toBe(refused);
      expect(said(await files.append(path(join(open, name)), bytes("x")))).toBe(refused);
      expect(lstatSync(join(open, name)).isSymbolicLink()).toBe(true);
    }
    expect(said(await files.write(path(join(open, "out-folder/x")), bytes("x")))).toBe(outside);
    expect(readFileSync(join(root, "closed/loot"), "utf8")).toBe("loot");
  });

  test("a delete removes the link itself, and nothing behind a link that leads outside", async () => {
    const files = filesIn({ granted: [["delete", open]] });
    symlinkSync("../closed/loot", join(open, "short-lived"));
    expect(said(await files.remove(path(join(open, "out-folder/loot"))))).toBe(outside);
    expect(said(await files.remove(path(join(open, "short-lived"))))).toBe("done");
    expect(readFileSync(join(root, "closed/loot"), "utf8")).toBe("loot");
    expect(said(await files.remove(path(join(open, "short-lived"))))).toBe("not_available: ENOENT");
  });

  test("stat reports the link itself", async () => {
    const files = filesIn({ granted: [["read", open]] });
    expect(await files.stat(path(join(open, "out-file")))).toMatchObject({ ok: true, value: { kind: "link" } });
    expect(await files.stat(path(join(open, "folder/inner")))).toMatchObject({
      ok: true,
      value: { kind: "file", bytes: 5 },
    });
    expect(said(await files.stat(path(join(open, "out-folder/loot"))))).toBe(outside);
  });

  test("a list goes through a link to a granted folder, and to no other", async () => {
    const files = filesIn({ granted: [["read", open]] });
    const listed = await files.list(path(join(open, "folder")), 100);
    expect(listed.ok && listed.value.map((entry) => entry.path.at(-1))).toEqual(["back", "deep", "inner", "new", "up"]);
    expect(said(await files.list(path(join(open, "out-folder")), 100))).toBe(outside);
  });

  test("glob and search do not follow links", async () => {
    const files = filesIn({ granted: [["read", open]] });
    const globbed = await files.glob(path(open), "**/{inner,loot,up}", 100);
    expect(globbed.ok && globbed.value.map((entry) => entry.path.slice(path(open).length).join("/"))).toEqual([
      "sub/inner",
      "sub/up",
    ]);
    const found = await files.search(path(open), "loot", 100);
    expect(found).toEqual({ ok: true, value: [] });
  });

  test.each([["a/../plain"], [".."], ["./plain"], ["a//b"], ["with\0zero"]])("%j is not a path", async (name) => {
    const files = filesIn({ granted: [["read", open]] });
    const asked = [...path(open), ...name.split("/")];
    expect(said(await files.read(asked, { offset: 0, bytesMax: 1 }))).toBe(
      "invalid_input: not an absolute, normal path",
    );
  });
});
