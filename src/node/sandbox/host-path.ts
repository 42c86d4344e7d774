// A plan's path as the host writes it, and opening folders on the way down without ever following a link.
import { closeSync, constants, openSync } from "node:fs";
import type { PlanPath } from "../../sandbox/plan.ts";

export function hostPath(path: PlanPath): string {
  return `/${path.join("/")}`;
}

/** A descriptor that only names a folder: nothing is read through it. Node does not name this flag of Linux. */
const O_PATH = 0o10_000_000;

/** The folder itself, never what a link leads to. Throws as the system does. */
export function openFolder(path: string): number {
  return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/**
 * Calls `use` with a name for the folder that stays the same folder whatever is renamed meanwhile; null where a part of
 * the way is absent or a link.
 */
export function withFolderBeneath<T>(base: string, way: readonly string[], use: (folder: string) => T): T | null {
  let folder: number;
  try {
    folder = openFolder(base);
  } catch {
    return null;
  }
  try {
    for (const name of way) {
      const next = openFolder(`/proc/self/fd/${folder}/${name}`);
      closeSync(folder);
      folder = next;
    }
    return use(`/proc/self/fd/${folder}`);
  } catch {
    return null;
  } finally {
    closeSync(folder);
  }
}
