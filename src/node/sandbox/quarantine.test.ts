// What appeared under a pinned name goes aside: never deleted, never over another, never through a link.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { putAside, putBack } from "./quarantine.ts";

let root = "";
let base = "";
let aside = "";
beforeEach(() => {
  root = realpathSync.native(mkdtempSync(join(tmpdir(), "ambit-aside-")));
  [base, aside] = [join(root, "base"), join(root, "state", "aside")];
  mkdirSync(base);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (...way: readonly string[]): string | null => putAside({ base, way, appeared: true, link: null }, aside);

describe("goes aside", () => {
  test("a file, a folder with all that is in it, a link as the link it is", () => {
    writeFileSync(join(base, ".bashrc"), "evil");
    mkdirSync(join(base, ".vim", "plugin"), { recursive: true });
    symlinkSync("/etc", join(base, ".config"));
    expect([put(".bashrc"), put(".vim"), put(".config")]).toEqual(
      ["aside-.bashrc.1", "aside-.vim.1", "aside-.config.1"].map((name) => join(aside, name)),
    );
    expect(readdirSync(base)).toEqual([]);
    expect(readFileSync(join(aside, "aside-.bashrc.1"), "utf8")).toBe("evil");
    expect(existsSync(join(aside, "aside-.vim.1", "plugin"))).toBe(true);
    expect(lstatSync(join(aside, "aside-.config.1")).isSymbolicLink()).toBe(true);
    expect(statSync(aside).mode & 0o777).toBe(0o700);
  });

  test("a name that no other folder would have", () => {
    const name = `line\nbreak ${"é".repeat(100)}`;
    writeFileSync(join(base, name), "");
    expect(put(name)).toMatch(/aside-line_break_+\.1$/);
  });

  test("beside the one before", () => {
    for (const text of ["one", "two"]) {
      writeFileSync(join(base, "x"), text);
      put("x");
    }
    expect(["1", "2"].map((number) => readFileSync(join(aside, `aside-x.${number}`), "utf8"))).toEqual(["one", "two"]);
  });

  test.skipIf(!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(tmpdir()).dev)(
    "under another name in its own folder, where the state lies on another disk",
    () => {
      const elsewhere = mkdtempSync("/dev/shm/ambit-aside-");
      try {
        writeFileSync(join(base, ".bashrc"), "evil");
        putAside({ base, way: [".bashrc"], appeared: true, link: null }, elsewhere);
        expect(readdirSync(base)).toEqual([".bashrc.ambit-aside.1"]);
        expect(readFileSync(join(base, ".bashrc.ambit-aside.1"), "utf8")).toBe("evil");
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    },
  );
});

describe("stays", () => {
  test("what lies behind a link, whoever owns it", () => {
    mkdirSync(join(root, "others"));
    writeFileSync(join(root, "others", "file"), "theirs");
    symlinkSync("../others", join(base, "link"));
    expect(put("link", "file")).toBeNull();
    expect(readFileSync(join(root, "others", "file"), "utf8")).toBe("theirs");
  });

  test("what is gone again, and what has no name", () => {
    expect([put("none"), put()]).toEqual([null, null]);
  });
});

describe("a link is put back", () => {
  const back = (link: string | null, ...way: readonly string[]): void => putBack({ base, way, appeared: false, link });

  test("as it was, wherever it leads", () => {
    back("/nowhere/at all", ".git");
    expect(readlinkSync(join(base, ".git"))).toBe("/nowhere/at all");
  });

  test("never over something, never through another link, and nothing where there was none", () => {
    writeFileSync(join(base, ".git"), "stays");
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(base, ".config"));
    back("x", ".git");
    back("x", ".config", "git");
    back(null, ".vscode");
    expect(readFileSync(join(base, ".git"), "utf8")).toBe("stays");
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
    expect(readdirSync(base).sort()).toEqual([".config", ".git"]);
  });
});
