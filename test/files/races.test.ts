// Names are exchanged while the worker resolves them: it may fail, but it never reads or writes outside.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileResult } from "../../src/core/ports/files.ts";
import { bytes, filesIn, newFolder, path, said, text } from "./fixture.ts";
import { nativeMissing } from "./native.ts";
import { startSwapping } from "./swapper.ts";

const attempts = 3_000;

interface RaceFixture {
  readonly root: string;
  readonly open: string;
  readonly closed: string;
}

function ground(): RaceFixture {
  const root = newFolder();
  const [open, closed] = [join(root, "open"), join(root, "closed")];
  mkdirSync(join(open, "folder/deep"), { recursive: true });
  mkdirSync(join(closed, "deep"), { recursive: true });
  writeFileSync(join(open, "folder/deep/file"), "inside");
  writeFileSync(join(closed, "deep/file"), "OUTSIDE");
  return { root, open, closed };
}

function all(open: string): Parameters<typeof filesIn>[0] {
  return {
    granted: [
      ["read", open],
      ["write", open],
      ["delete", open],
    ],
  };
}

describe.skipIf(nativeMissing() !== null)("a folder that is exchanged with a link over and over", () => {
  test("never reveals what is outside", async () => {
    const { open, closed } = ground();
    symlinkSync(closed, join(open, "other"));
    const files = filesIn(all(open));
    const swapper = await startSwapping(join(open, "folder"), join(open, "other"), join(open, "spare"));
    const seen = new Set<string>();
    try {
      for (let at = 0; at < attempts; at += 3) {
        seen.add(await text(files, join(open, "folder/deep/file")));
        const found: FileResult<readonly unknown[]> = await files.search(path(open), "OUTSIDE", 10);
        if (found.ok) expect(found.value).toEqual([]);
        const listed = await files.list(path(join(open, "folder")), 10);
        if (listed.ok) expect(listed.value.map((entry) => entry.path.at(-1))).toEqual(["deep"]);
      }
    } finally {
      await swapper.stop();
    }
    expect(seen).toContain("inside");
    expect([...seen].filter((each) => each.includes("OUTSIDE"))).toEqual([]);
  });

  test("never lets a write or a delete leave the tree", async () => {
    const { open, closed } = ground();
    symlinkSync(closed, join(open, "other"));
    const files = filesIn(all(open));
    const swapper = await startSwapping(join(open, "folder"), join(open, "other"), join(open, "spare"));
    let written = 0;
    try {
      for (let at = 0; at < attempts / 10; at++) {
        const target = path(join(open, `folder/deep/new-${at % 7}`));
        if ((await files.write(target, bytes("mine"))).ok) written++;
        await files.append(target, bytes("mine"));
        await files.remove(path(join(open, "folder/deep/file")));
        await files.remove(target);
      }
    } finally {
      await swapper.stop();
    }
    expect(written).toBeGreaterThan(0);
    expect(readdirSync(join(closed, "deep"))).toEqual(["file"]);
    expect(readFileSync(join(closed, "deep/file"), "utf8")).toBe("OUTSIDE");
  });
});

describe.skipIf(nativeMissing() !== null)("a file that is exchanged with a link over and over", () => {
  test("is read as a file or not at all, and written in its place", async () => {
    const { open, closed } = ground();
    writeFileSync(join(open, "file"), "inside");
    symlinkSync(join(closed, "deep/file"), join(open, "other"));
    const files = filesIn(all(open));
    const swapper = await startSwapping(join(open, "file"), join(open, "other"), join(open, "spare"));
    const seen = new Set<string>();
    try {
      for (let at = 0; at < attempts / 5; at++) {
        seen.add(await text(files, join(open, "file")));
        await files.append(path(join(open, "file")), bytes("+"));
        if (at % 5 === 0) await files.write(path(join(open, "file")), bytes("inside"));
      }
    } finally {
      await swapper.stop();
    }
    expect([...seen].filter((each) => each.includes("OUTSIDE"))).toEqual([]);
    expect(readFileSync(join(closed, "deep/file"), "utf8")).toBe("OUTSIDE");
  });
});

describe.skipIf(nativeMissing() !== null)("a root", () => {
  test("that is replaced stays the folder that was opened, and a later worker does not serve the new one", async () => {
    const { root, open, closed } = ground();
    const files = filesIn(all(open));
    expect(await text(files, join(open, "folder/deep/file"))).toBe("inside");
    renameSync(open, join(root, "moved"));
    renameSync(closed, open);
    mkdirSync(join(open, "folder"));
    writeFileSync(join(open, "folder/file"), "OUTSIDE");
    expect(await text(files, join(open, "folder/deep/file"))).toBe("inside");
    expect(await text(files, join(open, "folder/file"))).toBe("not_available: ENOENT");
    process.kill(files.processId as number, "SIGKILL");
    const gone = "not_available: the file worker ended";
    for (let at = 0; at < 8; at++) expect(await text(files, join(open, "folder/file"))).toBe(gone);
  });

  test("that becomes a link after the check is not opened", async () => {
    const { root, open, closed } = ground();
    const files = filesIn(all(open));
    rmSync(open, { recursive: true });
    symlinkSync(closed, open);
    expect(await text(files, join(open, "deep/file"))).toBe("not_available: the file worker ended");
    expect(existsSync(join(root, "closed/deep/file"))).toBe(true);
  });

  test("that is moved away takes its folders along: nothing is written where they are not granted", async () => {
    const { root, open } = ground();
    const files = filesIn({ ...all(open), trees: [{ path: path(open), mode: "write" }] });
    expect(said(await files.write(path(join(open, "folder/a")), bytes("a")))).toBe("done");
    renameSync(join(open, "folder"), join(root, "taken"));
    expect(said(await files.write(path(join(open, "folder/b")), bytes("b")))).toBe("not_available: ENOENT");
    expect(existsSync(join(root, "taken/b"))).toBe(false);
  });
});
