// What is not a regular file is neither read nor written, and never blocks.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytes, filesIn, newFolder, path, said, text } from "./fixture.ts";
import { nativeMissing } from "./native.ts";

describe.skipIf(nativeMissing() !== null)("pipes, sockets and devices", () => {
  let root: string;
  let server: Server;
  beforeAll(async () => {
    root = newFolder();
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "plain"), "plain");
    execFileSync("mkfifo", [join(root, "pipe")]);
    server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "socket"), resolve));
  });
  afterAll(() => {
    server.close();
  });

  const granted = (): Parameters<typeof filesIn>[0] => ({
    granted: [
      ["read", root],
      ["write", root],
      ["delete", root],
    ],
  });
  const notPlain = "not_available: EINVAL: not a plain file";

  test.each([
    ["pipe", notPlain],
    ["socket", notPlain],
    ["folder", "not_available: EISDIR: not a plain file"],
    ["plain", "plain"],
  ])("a read of a %s", async (name, expected) => {
    expect(await text(filesIn(granted()), join(root, name))).toBe(expected);
  });

  test.each([
    ["pipe", notPlain],
    ["socket", notPlain],
    ["folder", "not_available: EISDIR: not a plain file"],
  ])("a write to a %s", async (name, expected) => {
    const files = filesIn(granted());
    expect(said(await files.write(path(join(root, name)), bytes("x")))).toBe(expected);
    expect(said(await files.append(path(join(root, name)), bytes("x")))).toBe(expected);
    expect(readdirSync(root).filter((each) => each.startsWith(".ambit"))).toEqual([]);
  });

  test("pipes and sockets are not deleted; a folder only when it is empty", async () => {
    const files = filesIn(granted());
    const refused = "not_available: EINVAL: neither a file, a link nor a folder";
    for (const name of ["pipe", "socket"]) expect(said(await files.remove(path(join(root, name))))).toBe(refused);
    mkdirSync(join(root, "full/inner"), { recursive: true });
    expect(said(await files.remove(path(join(root, "full"))))).toBe("not_available: ENOTEMPTY");
    expect(said(await files.remove(path(join(root, "full/inner"))))).toBe("done");
    expect(said(await files.remove(path(join(root, "full"))))).toBe("done");
    expect(existsSync(join(root, "full"))).toBe(false);
    expect(said(await files.remove(path(root)))).toBe("not_available: EBUSY: the tree itself");
  });

  test("list and stat report their kind", async () => {
    const files = filesIn(granted());
    const listed = await files.list(path(root), 100);
    expect(listed.ok && listed.value.map(({ path: at, kind }) => [at.at(-1), kind])).toEqual([
      ["folder", "folder"],
      ["pipe", "other"],
      ["plain", "file"],
      ["socket", "other"],
    ]);
    expect(await files.stat(path(join(root, "pipe")))).toMatchObject({ ok: true, value: { kind: "other" } });
  });

  test("a search does not wait for a pipe", async () => {
    const found = await filesIn(granted()).search(path(root), "plain", 10);
    expect(found.ok && found.value.map((match) => match.path.at(-1))).toEqual(["plain"]);
  });

  test("devices are reported by stat and not opened", async () => {
    const files = filesIn({ granted: [["read", "/dev"]] });
    for (const name of ["null", "zero", "tty"].filter((one) => existsSync(`/dev/${one}`)))
      expect(await text(files, `/dev/${name}`)).toBe(notPlain);
  });

  test("files of /proc, whose reported size is zero, are read to their end", async () => {
    const files = filesIn({ granted: [["read", "/proc/sys/kernel"]] });
    expect(await text(files, "/proc/sys/kernel/ostype")).toBe("Linux\n");
  });
});
