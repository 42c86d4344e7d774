// This machine's ground: its home folder, where relative paths begin, and the paths no star reaches.
import { userInfo } from "node:os";
import type { Ground } from "../authority/path.ts";
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

/** Other homes, root's and everybody's: their keys are worth as much as the user's own. */
const otherHomes: readonly string[] = ["/root", "/var/root", "/home/*", "/Users/*"];

export function groundOf(machine: { readonly home: string | null; readonly cwd: string | null }): Ground {
  const home = machine.home === null ? null : segments(machine.home);
  const homes = [home, ...otherHomes.map(segments)].filter((one) => one !== null);
  const paths = PROTECTED_PATHS.flatMap((path) => {
    if (!path.startsWith("~/")) return [segments(path) ?? []];
    return homes.map((one) => [...one, ...path.slice(2).split("/")]);
  });
  return {
    // A home that is the whole machine, as some accounts have it, would make `~` mean everything.
    home: home !== null && home.length > 0 ? home : null,
    base: machine.cwd === null ? null : segments(machine.cwd),
    protectedPaths: [...new Map(paths.map((path) => [path.join("/"), path])).values()],
  };
}

/** Null for what is not one absolute path. */
function segments(path: string): readonly string[] | null {
  if (!path.startsWith("/") || path.includes("\0")) return null;
  const normal: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") normal.pop();
    else if (segment !== "" && segment !== ".") normal.push(segment);
  }
  return normal;
}
