// Finds the folders in which we may create control groups: below or beside our own group, as the kernel reports it.
import { accessSync, constants, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type GroupLimit = "memory" | "processes";

/** A folder of the control group file system in which a new group has one or both of these limits. */
export interface GroupFolder {
  readonly folder: string;
  readonly version: 1 | 2;
  readonly holds: readonly GroupLimit[];
}

/** Reads `/proc/self`; tests pass another folder. */
export function groupFolders(self = "/proc/self"): readonly GroupFolder[] {
  const [mounts, groups] = [lines(`${self}/mountinfo`).flatMap(readMount), lines(`${self}/cgroup`).flatMap(readGroup)];
  const unified = second(mounts, groups);
  return unified === null ? first(mounts, groups) : [unified];
}

const NAMES: Readonly<Record<GroupLimit, string>> = { memory: "memory", processes: "pids" };
const GROUP_LIMITS = ["memory", "processes"] as const;

/** Version 2: our own group contains us, which forbids groups with limits below it; its parent may be writable. */
function second(mounts: readonly Mount[], groups: readonly Group[]): GroupFolder | null {
  const mount = mounts.find(({ type }) => type === "cgroup2");
  const group = groups.find(({ controllers }) => controllers.length === 0);
  if (mount === undefined || group === undefined) return null;
  const own = folderOf(mount, group.path);
  for (const folder of own === null ? [] : own === mount.point ? [own] : [own, dirname(own)]) {
    const offered = (lines(join(folder, "cgroup.subtree_control"))[0] ?? "").split(" ");
    const holds = GROUP_LIMITS.filter((held) => offered.includes(NAMES[held]));
    if (holds.length > 0 && isOurs(folder)) return { folder, version: 2, holds };
  }
  return null;
}

/** Version 1: one hierarchy for each controller; a group below our own is possible wherever we may write. */
function first(mounts: readonly Mount[], groups: readonly Group[]): readonly GroupFolder[] {
  return GROUP_LIMITS.flatMap((held): readonly GroupFolder[] => {
    const mount = mounts.find(({ type, words }) => type === "cgroup" && words.includes(NAMES[held]));
    const group = groups.find(({ controllers }) => controllers.includes(NAMES[held]));
    const folder = mount === undefined || group === undefined ? null : folderOf(mount, group.path);
    return folder !== null && isOurs(folder) ? [{ folder, version: 1, holds: [held] }] : [];
  });
}

function isOurs(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    // Moving a process needs write access here, too.
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface Mount {
  readonly type: string;
  readonly root: string;
  readonly point: string;
  readonly words: readonly string[];
}

/** `36 35 0:30 /root /point options - type source words` */
function readMount(line: string): readonly Mount[] {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root, point] = before.split(" ");
  const [type, , words = ""] = after.split(" ");
  if (root === undefined || point === undefined || (type !== "cgroup" && type !== "cgroup2")) return [];
  return [{ type, root, point, words: words.split(",") }];
}

interface Group {
  readonly controllers: readonly string[];
  readonly path: string;
}

/** `4:memory:/path`, and `0::/path` for version 2. */
function readGroup(line: string): readonly Group[] {
  const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (controllers === undefined || path === undefined) return [];
  return [{ controllers: controllers === "" ? [] : controllers.split(","), path }];
}

/** In a container the mount shows only a part of the hierarchy; groups outside it are not accessible. */
function folderOf({ root, point }: Mount, path: string): string | null {
  if (path.split("/").includes("..")) return null;
  if (root === "/") return path === "/" ? point : `${point}${path}`;
  if (path === root) return point;
  return path.startsWith(`${root}/`) ? `${point}${path.slice(root.length)}` : null;
}

function lines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}
