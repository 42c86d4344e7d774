// Where a path really leads. Never throws.
import { lstatSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";

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

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
