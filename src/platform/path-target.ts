// Where a path really leads, and why a file that is not found may exist nevertheless. Never throws.

import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { errorCode } from "../core/base/error-code.ts";

/** At or below the folder once links are followed. */
export function liesInside(path: string, folder: string): boolean {
  try {
    const [inner, outer] = [realpathSync.native(path), realpathSync.native(folder)];
    return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
  } catch {
    return false;
  }
}

/** A dangling link exists. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** What is at the end of a link. */
export function kindOf(path: string): "folder" | "other" | null {
  try {
    return statSync(path).isDirectory() ? "folder" : "other";
  } catch {
    return null;
  }
}

/**
 * Why a file that is not found may exist nevertheless: a link leads to a disk that is not mounted, or to a folder that was
 * moved. An unreachable file is never treated as a missing one. The message continues after the file's name; null where the file does not exist. `path` is absolute. INVARIANT: the
 * target of a link is not disclosed.
 */
export function outOfReach(path: string): string | null {
  try {
    for (let at = path; ; at = dirname(at)) {
      const named = factsOf(() => lstatSync(at));
      if (named === null && at !== dirname(at)) continue;
      const found = named === null ? null : factsOf(() => statSync(at));
      if (at === path) return named !== null && found === null ? "is a broken link" : null;
      if (found === null) return `cannot be reached: the link ${at} is broken`;
      return found.isDirectory() ? null : `cannot be reached: ${at} is not a folder`;
    }
  } catch (error) {
    return `cannot be inspected (${errorCode(error)})`;
  }
}

/** Null where nothing exists. */
function factsOf(look: () => Stats): Stats | null {
  try {
    return look();
  } catch (error) {
    if (MISSING.includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];
