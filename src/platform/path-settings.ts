// Path settings of this machine: the home folder, the base of relative paths, and the protected paths, which no wildcard
// matches. Links are followed: a folder has one real name, and a home folder with two names is protected under both.
import { realpathSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import type { PathSettings } from "../core/authority/axes/path.ts";
import { segmentsOf, type UserFolders } from "./folders.ts";
import { PROTECTED_PATHS } from "./protected.ts";
import { followFolders, realRoot } from "./real-path.ts";

export { PROTECTED_PATHS };

/**
 * The home folder from the password database: any process can set the environment variable, and a new home would be new budgets.
 * Only a user id that the database does not know, as containers have, gets `$HOME`, if that folder belongs to it.
 */
export function homeFolder(): string | null {
  try {
    const { homedir } = userInfo();
    return homedir.startsWith("/") ? homedir : null;
  } catch {
    return ownFolderOf(process.env["HOME"]);
  }
}

/** `$HOME` where it names another folder than the home folder, and so has no effect on ours; null where it does not. */
export function ignoredHome(): string | null {
  const written = process.env["HOME"];
  const home = homeFolder();
  if (written === undefined || written === "" || written === home) return null;
  if (home === null) return written;
  return isSameFolder(written, home) ? null : written;
}

function isSameFolder(left: string, right: string): boolean {
  try {
    return realpathSync.native(left) === realpathSync.native(right);
  } catch {
    return false;
  }
}

function ownFolderOf(path: string | undefined): string | null {
  if (path === undefined || !path.startsWith("/")) return null;
  try {
    const found = statSync(path);
    return found.isDirectory() && found.uid === process.getuid?.() && path !== "/" ? path : null;
  } catch {
    return null;
  }
}

export function pathSettingsOf(machine: { readonly home: string | null; readonly cwd: string | null }): PathSettings {
  const home = machine.home === null ? null : absoluteSegments(machine.home);
  return {
    home: asHome(home),
    base: machine.cwd === null ? null : absoluteSegments(machine.cwd),
    protectedPaths: protectedBelow(home === null ? [] : [home], []),
  };
}

/** A home folder of `/`, as some accounts have it, would make `~` mean everything. */
export function asHome(home: readonly string[] | null): readonly string[] | null {
  return home === null || home.length === 0 ? null : home;
}

/** From the password database; a uid without a name is a user, too. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}

/** Home folders of other users and of root: their keys are worth as much as the user's own. */
const otherHomes: readonly string[] = ["/root", "/var/root", "/home/*", "/Users/*"];

/** Paths protected everywhere and below these homes, and `more`; each path once. */
export function protectedBelow(
  homes: readonly (readonly string[])[],
  more: readonly (readonly string[])[],
): PathSettings["protectedPaths"] {
  const roots = new Set([...homes.map(textOf), ...otherHomes]);
  // Kept as text until the end: joining and splitting hundreds of short paths is fast.
  const paths = new Set<string>();
  for (const path of PROTECTED_PATHS) {
    if (path.startsWith("~/")) for (const root of roots) paths.add(root + path.slice(1));
    else paths.add(path);
  }
  for (const path of more) paths.add(textOf(path));
  return Array.from(paths, (path) => path.slice(1).split("/"));
}

function textOf(path: readonly string[]): string {
  return path.map((name) => `/${name}`).join("");
}

/** Null for what is not a single absolute path. */
export function absoluteSegments(path: string): readonly string[] | null {
  if (!path.startsWith("/") || path.includes("\0")) return null;
  const normal: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") normal.pop();
    else if (segment !== "" && segment !== ".") normal.push(segment);
  }
  return normal;
}

export interface PathSettingsOptions {
  readonly home: string | null;
  readonly folders: UserFolders;
  /** Its `.ambit` folder is protected: agents must not write their own grants, whatever root contains it. */
  readonly workspace: string | null;
}

/**
 * The path settings for each folder that relative paths may be resolved against; the protected paths are the same for all of
 * them and are computed once. Absent on purpose: following each protected path. Some lead to the working directory, and
 * all cost time.
 */
export function machinePathSettings({ home, folders, workspace }: PathSettingsOptions): (base: string) => PathSettings {
  const written = home === null ? null : absoluteSegments(home);
  const real = written === null ? null : realRoot(written);
  const own = workspace === null ? null : `${workspace}/.ambit`;
  const ours = [folders.config, folders.state, own].flatMap((folder) => (folder === null ? [] : [segmentsOf(folder)]));
  const homes = [written, real].filter((one) => one !== null);
  const protectedPaths = protectedBelow(homes, [...ours, ...ours.flatMap(followed)]);
  const inside = workspace === null ? null : segmentsOf(workspace);
  return (folder) => {
    const start = absoluteSegments(folder);
    const base = start === null ? null : realRoot(start);
    return { home: asHome(real), base, protectedPaths, followed: (path) => followFolders(path, inside) };
  };
}

function followed(path: readonly string[]): readonly (readonly string[])[] {
  const real = realRoot(path);
  return real === null || real.length === 0 ? [] : [real];
}
