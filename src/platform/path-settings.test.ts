import { userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { parsePath, pathText } from "../core/authority/axes/path.ts";
import { homeFolder, ignoredHome, PROTECTED_PATHS, pathSettingsOf } from "./path-settings.ts";

const pathSettings = pathSettingsOf({ home: "/home/ann", cwd: "/work" });

function guardedDepth(path: string): number {
  const read = parsePath(path, pathSettings);
  return read.ok ? (read.value.guarded?.filter(Boolean).length ?? 0) : -1;
}

describe("a path only its own name opens, and its neighbour one character away, which a star may open", () => {
  it.each([
    ["~/.ssh/id_ed25519", 3, "~/.sshd/id_ed25519"],
    ["~/.aws", 3, "~/.awsx"],
    ["~/.config/gh/hosts.yml", 4, "~/.config/ghi/hosts.yml"],
    ["~/.config/git/credentials", 5, "~/.config/git/credential"],
    ["~/.config/ambit/x", 4, "~/.config/ambits/x"],
    ["~/.local/state/ambit/x", 5, "~/.local/state/ambits/x"],
    ["~/x/../.ssh", 3, "~/x/./.ssh"],
    ["/etc/shadow", 2, "/etc/shadows"],
    ["/etc/ssh/x", 2, "/etc/sshx/x"],
    ["/root/.ssh/x", 2, "/root/.sshx/x"],
    ["/root/.aws/x", 2, "/root/.awsx/x"],
    ["/proc/self/environ", 3, "/proc/cpuinfo"],
    ["/proc/4242/environ", 3, "/proc/meminfo"],
    ["/proc/4242/cmdline", 3, "/procs/4242/cmdline"],
    ["/proc/4242/maps", 3, "/pro/4242/maps"],
    ["/proc/4242/task/4243/environ", 5, "/srv/4242/task/4243/environ"],
    ["/proc/4242/task/4243/cmdline", 5, "/srv/proc/4242/cmdline"],
    ["/proc/4242/task/4243/fd/3", 5, "/proc"],
    ["/run/secrets/x", 2, "/run/secretsx/x"],
    ["/boot/x", 1, "/boots/x"],
  ])("%s", (path, depth, neighbour) => {
    expect(guardedDepth(path)).toBe(depth);
    expect(guardedDepth(neighbour)).toBe(0);
  });

  it("the list has every entry once, absolute or below a home, in normal form", () => {
    expect(new Set(PROTECTED_PATHS).size).toBe(PROTECTED_PATHS.length);
    for (const path of PROTECTED_PATHS) expect(path).toMatch(/^(~|)(\/([^/*?{}[\]]+|\*))+$/);
    expect(PROTECTED_PATHS.length).toBeGreaterThan(60);
  });
});

describe("path settings of a machine", () => {
  it("home and working folder in normal form", () => {
    expect(pathText(pathSettings.home ?? [])).toBe("/home/ann");
    expect(pathSettingsOf({ home: "/home//ann/./x/..", cwd: "/work/../w/" })).toMatchObject({
      home: ["home", "ann"],
      base: ["w"],
    });
  });

  it("without a home there is none, and paths protected elsewhere still are", () => {
    const homeless = pathSettingsOf({ home: null, cwd: "/work" });
    expect(homeless.home).toBeNull();
    expect(homeless.protectedPaths).toContainEqual(["etc", "shadow"]);
    expect(homeless.protectedPaths).toContainEqual(["root", ".ssh"]);
    expect(homeless.protectedPaths.every((path) => path.length > 0 && !path.includes("~"))).toBe(true);
  });

  it.each(["", "relative", "~", "/a\0b"])("%j is neither a home nor a working folder", (path) => {
    expect(pathSettingsOf({ home: path, cwd: path })).toMatchObject({ home: null, base: null });
  });

  it("a home that is the whole machine is none, but its keys are protected", () => {
    const odd = pathSettingsOf({ home: "/", cwd: "/" });
    expect(odd).toMatchObject({ home: null, base: [] });
    expect(odd.protectedPaths).toContainEqual([".ssh"]);
  });

  it("the environment does not choose the home", () => {
    const before = process.env["HOME"];
    process.env["HOME"] = "/tmp/elsewhere";
    try {
      expect(homeFolder()).toBe(userInfo().homedir);
      expect(homeFolder()).not.toBe("/tmp/elsewhere");
      expect(ignoredHome()).toBe("/tmp/elsewhere");
      process.env["HOME"] = `${userInfo().homedir}/.`;
      expect(ignoredHome()).toBeNull();
    } finally {
      if (before === undefined) delete process.env["HOME"];
      else process.env["HOME"] = before;
    }
  });
});
