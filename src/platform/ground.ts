// The path ground of this machine: its home folder, the base of relative paths, and the protected paths, which no
// wildcard matches.
import { userInfo } from "node:os";
import type { Ground } from "../core/authority/axes/path.ts";
import { PROTECTED_PATHS } from "./protected.ts";

export { PROTECTED_PATHS };

/** The home folder from the password database; any process can set the environment variable. */
export function homeFolder(): string | null {
  try {
    const { homedir } = userInfo();
    return homedir.startsWith("/") ? homedir : null;
  } catch {
    return null;
  }
}

export function groundOf(machine: { readonly home: string | null; readonly cwd: string | null }): Ground {
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
): Ground["protectedPaths"] {
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
