// This machine's ground: its home folder, where relative paths begin, and the paths no star reaches.
import { userInfo } from "node:os";
import type { Ground } from "../core/authority/axes/path.ts";
import { PROTECTED_PATHS } from "./protected.ts";

export { PROTECTED_PATHS };

/** Home as the password database has it; the environment is anybody's to set. */
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

/** A home that is the whole machine, as some accounts have it, would make `~` mean everything. */
export function asHome(home: readonly string[] | null): readonly string[] | null {
  return home === null || home.length === 0 ? null : home;
}

/** As the password database has it; a number without a name is a user, too. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}

/** Other homes, root's and everybody's: their keys are worth as much as the user's own. */
const otherHomes: readonly string[] = ["/root", "/var/root", "/home/*", "/Users/*"];

/** What is protected everywhere and below these homes, and `more`; each path once. */
export function protectedBelow(
  homes: readonly (readonly string[])[],
  more: readonly (readonly string[])[],
): Ground["protectedPaths"] {
  const roots = new Set([...homes.map(textOf), ...otherHomes]);
  // As text until the end: joining and splitting hundreds of short paths is what the machine is quick at.
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

/** Null for what is not one absolute path. */
export function absoluteSegments(path: string): readonly string[] | null {
  if (!path.startsWith("/") || path.includes("\0")) return null;
  const normal: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") normal.pop();
    else if (segment !== "" && segment !== ".") normal.push(segment);
  }
  return normal;
}
