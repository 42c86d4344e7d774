import { lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isSameFolder, segmentsOf, userFolders } from "./folders.ts";
import { machinePathSettings } from "./path-settings.ts";
import { linksToward, realRoot } from "./real-path.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-real-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
mkdirSync(join(base, "real/deep"), { recursive: true });
mkdirSync(join(base, "home"));
writeFileSync(join(base, "file"), "");
symlinkSync(join(base, "real"), join(base, "link"));
symlinkSync(join(base, "home"), join(base, "home-link"));
symlinkSync("real/deep", join(base, "near"));
symlinkSync(join(base, "nowhere"), join(base, "dangling"));
symlinkSync(join(base, "ring-b"), join(base, "ring-a"));
symlinkSync(join(base, "ring-a"), join(base, "ring-b"));
mkdirSync(join(base, "odd"));
mkdirSync(Buffer.from(`${base}/odd/\u00ff`, "latin1"));
symlinkSync(Buffer.from(`${base}/odd/\u00ff`, "latin1"), join(base, "odd-link"));
symlinkSync(join(base, "file"), join(base, "file-link"));

function real(path: string): string | null {
  const found = realRoot(segmentsOf(join(base, path)));
  return found === null ? null : `/${found.join("/")}`.replace(base, "");
}

describe("the real path of a root", () => {
  test.each<[string, string, string | null]>([
    ["a folder is itself", "real", "/real"],
    ["a link is its target", "link", "/real"],
    ["a relative link too", "near", "/real/deep"],
    ["through a linked parent", "link/deep", "/real/deep"],
    ["a missing path is below what exists", "real/new/er", "/real/new/er"],
    ["behind a linked parent too", "link/new/er", "/real/new/er"],
    ["nothing is below a file", "file/x", null],
    ["nor behind a link to one", "file-link/x", null],
    ["a name that is not UTF-8 has no real path", "odd-link", null],
    ["a dangling link could lead anywhere", "dangling", null],
    ["also on the way", "dangling/x", null],
    ["a link cycle has no target", "ring-a", null],
    ["nor has a path behind it", "ring-a/x", null],
  ])("%s", (_, path, expected) => {
    expect(real(path)).toBe(expected);
  });

  test("the whole machine is itself", () => {
    expect(realRoot([])).toEqual([]);
  });

  test("a name no file system accepts is an error, not missing", () => {
    expect(realRoot(["a".repeat(5000)])).toBe(null);
    expect(realRoot(["a\0b"])).toBe(null);
  });
});

describe("links by which a name leads to a root", () => {
  const links = (name: string, root: string): readonly string[] =>
    linksToward(segmentsOf(join(base, name)), segmentsOf(join(base, root))).map(({ path, target }) =>
      [path, target].map((one) => `/${one.join("/")}`.replace(base, "")).join(" -> "),
    );
  mkdirSync(join(base, "user"));
  symlinkSync(join(base, "link"), join(base, "user/work"));
  symlinkSync(join(base, "user"), join(base, "users"));
  symlinkSync("..", join(base, "real/up"));
  symlinkSync("/proc/self/cwd", join(base, "cwd"));
  test.each<[string, string, string, readonly string[]]>([
    ["a link to a folder above the root", "link/deep", "real/deep", ["/link -> /real"]],
    ["a link to the root", "near", "real/deep", ["/near -> /real/deep"]],
    ["a link to a folder in the root", "near", "real", ["/near -> /real/deep"]],
    ["a link to a link, by its end", "user/work/deep/x", "real/deep", ["/user/work -> /real"]],
    [
      "by the name that was written, behind a link that leads elsewhere",
      "users/work",
      "real",
      ["/users/work -> /real"],
    ],
    ["a name without links", "real/deep/x", "real/deep", []],
    ["links inside the root are the project's", "real/up/link/deep", "real", []],
    ["a link that leads elsewhere", "home-link/x", "real", []],
    ["one that dangles", "dangling/x", "nowhere", []],
    ["a link cycle", "ring-a/x", "real", []],
    ["a link through /proc", "cwd/x", "real", []],
    ["a missing name", "none/deep", "real", []],
  ])("%s", (_, name, root, expected) => {
    expect(links(name, root)).toEqual(expected);
  });

  test.runIf(process.getuid?.() === 0)("a link of another user ends it: that user can change it", () => {
    symlinkSync(join(base, "real"), join(base, "planted"));
    symlinkSync(join(base, "user"), join(base, "planted-above"));
    for (const name of ["planted", "planted-above"]) lchownSync(join(base, name), 65_534, 65_534);
    expect(links("planted/deep", "real/deep")).toEqual([]);
    expect(links("planted-above/work", "real")).toEqual([]);
  });
});

describe("the user's folders", () => {
  const asked = { environment: {}, home: "/home/ann", workspace: null };
  const row = (environment: Record<string, string>, workspace: string | null = null): unknown =>
    userFolders({ ...asked, environment, workspace });
  test.each<[string, unknown, unknown]>([
    [
      "are below the home folder",
      row({}),
      { config: "/home/ann/.config/ambit", state: "/home/ann/.local/state/ambit" },
    ],
    [
      "or where an absolute variable says",
      row({ XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }),
      { config: "/c/ambit", state: "/s/ambit" },
    ],
    [
      "never where a relative one says",
      row({ XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" }),
      { config: "/home/ann/.config/ambit", state: "/home/ann/.local/state/ambit" },
    ],
    [
      "never inside the project",
      row({ XDG_CONFIG_HOME: join(base, "real/c"), XDG_STATE_HOME: join(base, "real") }, join(base, "real")),
      { config: "/home/ann/.config/ambit", state: "/home/ann/.local/state/ambit" },
    ],
    [
      "nor through a link",
      row({ XDG_STATE_HOME: join(base, "link/s") }, join(base, "real")),
      { config: "/home/ann/.config/ambit", state: "/home/ann/.local/state/ambit" },
    ],
    [
      "but beside it",
      row({ XDG_STATE_HOME: join(base, "home") }, join(base, "real")),
      { config: "/home/ann/.config/ambit", state: join(base, "home/ambit") },
    ],
    ["do not exist without a home", userFolders({ ...asked, home: null }), { config: null, state: null }],
  ])("%s", (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test("one folder has two names", () => {
    expect(isSameFolder(join(base, "link"), join(base, "real"))).toBe(true);
    expect(isSameFolder(join(base, "link"), join(base, "home"))).toBe(false);
    expect(isSameFolder(join(base, "dangling"), join(base, "dangling"))).toBe(false);
  });
});

describe("path settings after links are resolved", () => {
  const folders = { config: "/c/ambit", state: "/s/ambit" };
  const pathSettings = machinePathSettings({ home: join(base, "home-link"), folders, workspace: null })(
    join(base, "link"),
  );
  test("home and base are real paths", () => {
    expect(pathSettings.home).toEqual(segmentsOf(join(base, "home")));
    expect(pathSettings.base).toEqual(segmentsOf(join(base, "real")));
  });

  test.each(["home/.ssh", "home-link/.ssh"])("%s is protected under both names", (path) => {
    expect(pathSettings.protectedPaths).toContainEqual(segmentsOf(join(base, path)));
  });

  test("our own folders are protected wherever the variables put them", () => {
    expect(pathSettings.protectedPaths).toContainEqual(["c", "ambit"]);
    expect(pathSettings.protectedPaths).toContainEqual(["s", "ambit"]);
  });

  test("links of /proc, and those that lead through it, stay as they are written", () => {
    symlinkSync("/proc/self/cwd", join(base, "proc-link"));
    symlinkSync("proc-link/..", join(base, "around"));
    const followed = (path: string): unknown => pathSettings.followed?.(segmentsOf(path)).join("/");
    for (const path of ["/proc/self/cwd/x", "/proc/1/root/x/y", join(base, "proc-link/x"), join(base, "around/x")])
      expect(followed(path)).toBe(path.slice(1));
    expect(followed(join(base, "link/x"))).toBe(join(base, "real/x").slice(1));
  });
});
