// Why a file that is not found may be there all the same: a link leads to a disk that is not mounted, to a folder that was moved.
// What is out of reach is never the same as nothing.
import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./path-target.ts";

/**
 * Goes on from the name of the file; null where there really is none. `path` is absolute. INVARIANT: where a link leads is not
 * told.
 */
export function outOfReach(path: string): string | null {
  try {
    for (let at = path; ; at = dirname(at)) {
      const named = factsOf(() => lstatSync(at));
      if (named === null && at !== dirname(at)) continue;
      const found = named === null ? null : factsOf(() => statSync(at));
      if (at === path) return named !== null && found === null ? "is a link, and what it leads to is not there" : null;
      if (found === null) return `cannot be reached: what the link ${at} leads to is not there`;
      return found.isDirectory() ? null : `cannot be reached: ${at} is no folder`;
    }
  } catch (error) {
    return `cannot be looked at (${codeOf(error)})`;
  }
}

/** Null where nothing is there. */
function factsOf(look: () => Stats): Stats | null {
  try {
    return look();
  } catch (error) {
    if (MISSING.includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];
