// A write is all or nothing: if the worker dies, if a step fails, and with concurrent writers.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import { asOrdinaryUser, bytes, drafts, filesIn, newFolder, path, said, text, whole } from "./fixture.ts";
import { nativeMissing } from "./native.ts";

const isRoot = process.getuid?.() === 0;

describe.skipIf(nativeMissing() !== null)("a write", () => {
  test("leaves the old content or the new when the worker is killed, and at most one draft file", async () => {
    const root = newFolder();
    const [old, fresh] = ["old ".repeat(50_000), "new!".repeat(50_000)];
    const file = join(root, "file");
    writeFileSync(file, old);
    const files = whole(root);
    let killed = 0;
    let replaced = 0;
    for (let round = 0; round < 200; round++) {
      const wanted = round % 2 === 0 ? fresh : old;
      // The previous worker may still be exiting: requests to it are refused, and the next one is started.
      for (let tries = 0; !(await files.stat(path(file))).ok && tries < 50; tries++);
      const write = files.write(path(file), bytes(wanted));
      const victim = files.processId as number;
      // From immediately to a few milliseconds later: before, during and after the write.
      const wait = round % 20;
      if (wait > 0) await pause(wait / 4, "it is killed at different moments of the write");
      process.kill(victim, "SIGKILL");
      const result = await write;
      if (result.ok) replaced++;
      else killed++;
      const content = readFileSync(file, "utf8");
      expect([old, fresh]).toContain(content);
      if (result.ok) expect(content).toBe(wanted);
      expect(drafts(root).length).toBeLessThanOrEqual(killed);
    }
    expect(killed).toBeGreaterThan(0);
    expect(replaced + killed).toBe(200);
  });

  test("of several concurrent ones leaves the whole content of one", async () => {
    const root = newFolder();
    const writers = [whole(root), whole(root), whole(root)];
    const contents = writers.map((_, at) => String.fromCharCode(97 + at).repeat(100_000));
    await Promise.all(
      writers.flatMap((files, at) =>
        Array.from({ length: 20 }, () => files.write(path(join(root, "file")), bytes(contents[at] as string))),
      ),
    );
    expect(contents).toContain(readFileSync(join(root, "file"), "utf8"));
    expect(drafts(root)).toEqual([]);
  });

  test("keeps the mode, and clears set-uid", async () => {
    const root = newFolder();
    const files = whole(root);
    for (const [mode, kept] of [
      [0o640, 0o640],
      [0o755, 0o755],
      [0o600, 0o600],
      [0o4755, 0o755],
    ] as const) {
      const file = join(root, `mode-${mode}`);
      writeFileSync(file, "old");
      chmodSync(file, mode);
      expect(said(await files.write(path(file), bytes("new")))).toBe("done");
      expect(statSync(file).mode & 0o7777).toBe(kept);
    }
    expect(said(await files.write(path(join(root, "fresh")), bytes("new")))).toBe("done");
    expect(statSync(join(root, "fresh")).mode & 0o7777).toBe(0o666 & ~process.umask());
  });

  test.skipIf(!isRoot)("keeps the owner", async () => {
    const root = newFolder();
    writeFileSync(join(root, "theirs"), "old");
    chownSync(join(root, "theirs"), 12_345, 54_321);
    expect(said(await whole(root).write(path(join(root, "theirs")), bytes("new")))).toBe("done");
    expect(statSync(join(root, "theirs"))).toMatchObject({ uid: 12_345, gid: 54_321 });
  });

  test("that exceeds the size limit fails, rolls back and leaves no draft", async () => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "old");
    const files = whole(root, { limits: { fileBytesMax: 10_000 } });
    const tooLong = "not_available: EFBIG";
    expect(said(await files.write(path(join(root, "file")), Buffer.alloc(20_000)))).toBe(tooLong);
    expect(said(await files.write(path(join(root, "new")), Buffer.alloc(20_000)))).toBe(tooLong);
    expect(said(await files.append(path(join(root, "file")), Buffer.alloc(9_999)))).toBe(tooLong);
    expect(said(await files.append(path(join(root, "new")), Buffer.alloc(20_000)))).toBe(tooLong);
    expect(readFileSync(join(root, "file"), "utf8")).toBe("old");
    expect(existsSync(join(root, "new"))).toBe(false);
    expect(drafts(root)).toEqual([]);
    expect(said(await files.append(path(join(root, "file")), Buffer.alloc(9_997)))).toBe("done");
  });

  test.skipIf(!isRoot)("on a full disk fails, rolls back and leaves no draft", async () => {
    const root = newFolder();
    const small = join(root, "small");
    mkdirSync(small);
    expect(spawnSync("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]).status).toBe(0);
    try {
      writeFileSync(join(small, "file"), "old");
      const files = whole(small);
      expect(said(await files.write(path(join(small, "file")), Buffer.alloc(200_000)))).toBe("not_available: ENOSPC");
      expect(said(await files.append(path(join(small, "file")), Buffer.alloc(200_000)))).toBe("not_available: ENOSPC");
      expect(said(await files.append(path(join(small, "new")), Buffer.alloc(200_000)))).toBe("not_available: ENOSPC");
      expect(readFileSync(join(small, "file"), "utf8")).toBe("old");
      expect(readdirSync(small)).toEqual(["file"]);
      files.close();
    } finally {
      spawnSync("/bin/umount", ["-l", small]);
    }
  });

  test("needs an existing folder, a writable tree, and a grant", async () => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "old");
    const files = whole(root);
    expect(said(await files.write(path(join(root, "no/such")), bytes("x")))).toBe("not_available: ENOENT");
    expect(said(await files.write(path(join(root, "file/x")), bytes("x")))).toBe("not_available: ENOTDIR");
    const reading = whole(root, { trees: [{ path: path(root), mode: "read" }] });
    expect(said(await reading.write(path(join(root, "file")), bytes("x")))).toBe(
      "scope_violation: the tree is read-only",
    );
    const reader = filesIn({ granted: [["read", root]], trees: [{ path: path(root), mode: "write" }] });
    expect(said(await reader.write(path(join(root, "file")), bytes("x")))).toBe("capability_absent: not granted");
    const asking = filesIn({ granted: [["write", root, undefined, 1]] });
    expect(said(await asking.write(path(join(root, "file")), bytes("x")))).toMatch(/^approval_required/);
    expect(readFileSync(join(root, "file"), "utf8")).toBe("old");
  });

  test("does not touch a pinned file, by either of its names", async () => {
    const root = newFolder();
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".git/config"), "old");
    const files = whole(root, { pinned: [join(root, ".git/hooks"), join(root, ".git/config")] });
    for (const name of [".git/config", ".git/hooks/x", ".git/hooks"]) {
      expect(said(await files.write(path(join(root, name)), bytes("x")))).toBe("scope_violation: pinned");
      expect(said(await files.remove(path(join(root, name))))).toBe("scope_violation: pinned");
    }
    expect(await text(files, join(root, ".git/config"))).toBe("old");
    expect(said(await files.write(path(join(root, ".git/configs")), bytes("x")))).toBe("done");
  });
});

describe.skipIf(nativeMissing() !== null || !isRoot)("as an unprivileged user", () => {
  test("the worker reads and writes what that user may, and nothing else", async () => {
    const root = newFolder();
    chmodSync(root, 0o755);
    const open = join(root, "open");
    mkdirSync(open);
    chownSync(open, 12_345, 12_345);
    for (const [name, mode, owner] of [
      ["own", 0o644, 12_345],
      ["read-only", 0o444, 12_345],
      ["shared", 0o644, 0],
      ["secret", 0o600, 0],
    ] as const) {
      writeFileSync(join(open, name), name);
      chmodSync(join(open, name), mode);
      chownSync(join(open, name), owner, owner);
    }
    const files = whole(open, { program: asOrdinaryUser(root) as string });
    expect(await text(files, join(open, "own"))).toBe("own");
    expect(await text(files, join(open, "shared"))).toBe("shared");
    expect(await text(files, join(open, "secret"))).toBe("not_available: EACCES");
    expect(said(await files.write(path(join(open, "own")), bytes("new")))).toBe("done");
    expect(statSync(join(open, "own"))).toMatchObject({ uid: 12_345, gid: 12_345 });
    for (const name of ["read-only", "shared", "secret"])
      expect(said(await files.write(path(join(open, name)), bytes("new")))).toBe("not_available: EACCES");
    expect(readFileSync(join(open, "shared"), "utf8")).toBe("shared");
    expect(drafts(open)).toEqual([]);
  });
});
