// Where control groups may be created, on machines of every kind, with fixture files in place of /proc and of the
// groups.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { groupFolders } from "./group-folders.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ambit-groups-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A control group folder, with the controllers its children are offered. */
function group(path: string, offered: string | null): void {
  mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, path, "cgroup.procs"), "");
  if (offered !== null) writeFileSync(join(root, path, "cgroup.subtree_control"), `${offered}\n`);
}

function places(mounts: readonly string[], groups: readonly string[]): readonly string[] {
  mkdirSync(join(root, "self"));
  writeFileSync(join(root, "self", "mountinfo"), `${mounts.join("\n")}\n`);
  writeFileSync(join(root, "self", "cgroup"), `${groups.join("\n")}\n`);
  return groupFolders(join(root, "self")).map(
    ({ folder, version, holds }) => `${folder.slice(root.length)} ${version} ${holds.join("+")}`,
  );
}

const second = (): string => `30 24 0:26 / ${root}/groups rw - cgroup2 cgroup2 rw`;
const first = (name: string, top = "/"): string => `31 24 0:27 ${top} ${root}/${name} rw - cgroup cgroup rw,${name}`;

describe("version 2", () => {
  test.each([
    ["beside our own group, if its parent is ours", "memory pids", ["/groups/user/app 2 memory+processes"]],
    ["with the controllers offered there", "pids cpu", ["/groups/user/app 2 processes"]],
    ["not where no controller we need is offered", "cpu io", []],
  ])("%s", (_what, offered, wanted) => {
    group("groups/user/app/own", "");
    group("groups/user/app", offered);
    expect(places([second()], ["0::/user/app/own"])).toEqual(wanted);
  });

  test("below our own group, if that already delegates its limits", () => {
    group("groups/own", "memory pids");
    group("groups", "memory pids");
    expect(places([second()], ["0::/own"])).toEqual(["/groups/own 2 memory+processes"]);
  });

  test("never above what the mount shows", () => {
    group("groups", "memory pids");
    expect(places([second()], ["0::/../elsewhere"])).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("not where we may not write", () => {
    group("groups/own", "memory pids");
    const own = join(root, "groups/own");
    chmodSync(own, 0o555);
    try {
      expect(places([second()], ["0::/own"])).toEqual([]);
    } finally {
      // Only root can remove the contents of a folder of that mode.
      chmodSync(own, 0o755);
    }
  });

  test("not where no process can be moved to", () => {
    group("groups/own", "memory pids");
    rmSync(join(root, "groups/own/cgroup.procs"));
    expect(places([second()], ["0::/own"])).toEqual([]);
  });
});

describe("version 1", () => {
  test("below our own group of each kind, beside a version 2 without controllers", () => {
    group("memory/box", null);
    group("pids", null);
    group("groups", "hugetlb");
    expect(places([second(), first("memory"), first("pids")], ["4:memory:/box", "8:pids:/", "0::/"])).toEqual([
      "/memory/box 1 memory",
      "/pids 1 processes",
    ]);
  });

  test("in a container, where the mount shows a part of the tree", () => {
    group("memory/inner", null);
    expect(places([first("memory", "/docker/abc")], ["4:memory:/docker/abc/inner"])).toEqual([
      "/memory/inner 1 memory",
    ]);
  });

  test("not where another part is shown", () => {
    group("memory", null);
    expect(places([first("memory", "/docker/abc")], ["4:memory:/docker/abcd"])).toEqual([]);
  });

  test("several kinds in one tree", () => {
    group("memory", null);
    const mount = `31 24 0:27 / ${root}/memory rw - cgroup cgroup rw,cpu,memory`;
    expect(places([mount], ["4:cpu,memory:/"])).toEqual(["/memory 1 memory"]);
  });
});

test("a machine without control groups has no folder for them", () => {
  expect(groupFolders(join(root, "none"))).toEqual([]);
  expect(places(["nonsense", ""], ["", "x:y", "0::relative"])).toEqual([]);
});
