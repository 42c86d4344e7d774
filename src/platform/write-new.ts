// Writes a file that does not exist yet: completely or not at all, never over another, never through a link out of the
// folder.

import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../core/base/error-code.ts";
import type { Failure } from "../core/base/result.ts";

export type WriteResult =
  | { readonly ok: true; readonly kind: "written" | "kept" }
  /** The message continues after the file's name. */
  | Failure;

/** `path` is relative to the folder, with `/` between its parts. */
export function writeNew(folder: string, path: string, text: string): WriteResult {
  const target = join(folder, path);
  try {
    const linked = makeFolders(folder, dirname(path));
    if (linked !== null) return { ok: false, message: `is not written: ${linked} is not a folder of this project` };
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return { ok: true, kind: "kept" };
    return { ok: true, kind: writeOnce(target, text) };
  } catch (error) {
    return { ok: false, message: `cannot be written (${errorCode(error)})` };
  }
}

/** The first part of the path that is a link or a file; null when all folders exist. */
function makeFolders(folder: string, path: string): string | null {
  let prefix = "";
  for (const part of path.split("/")) {
    prefix = prefix === "" ? part : `${prefix}/${part}`;
    const found = lstatSync(join(folder, prefix), { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(join(folder, prefix));
    else if (!found.isDirectory()) return prefix;
  }
  return null;
}

/** A hard link to the complete file: unlike a rename, it fails where another process was faster. */
function writeOnce(target: string, text: string): "written" | "kept" {
  const draft = `${target}.${process.pid}.draft`;
  const file = openSync(draft, "wx");
  try {
    writeFileSync(file, text, "utf8");
    fsyncSync(file);
    linkSync(draft, target);
    return "written";
  } catch (error) {
    if (errorCode(error) === "EEXIST") return "kept";
    throw error;
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
}
