// The files of one folder, read completely and within limits: the hashed bytes are the copied bytes are the executed
// bytes.

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { Failure, Result } from "../../core/base/result.ts";

export interface TreeFile {
  /** With slashes, relative to the folder. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export type TreeResult<T> = Result<T, Failure>;

export interface TreeBounds {
  readonly files: number;
  readonly bytes: number;
}

/** Names that are skipped at any depth. */
type Skips = (name: string) => boolean;

const depthMax = 32;

/** Sorted by path. A link is refused: its target could change without the folder changing. */
export function readTree(folder: string, bounds: TreeBounds, skips: Skips): TreeResult<readonly TreeFile[]> {
  const files: TreeFile[] = [];
  let left = bounds.bytes;
  const walk = (inner: string, depth: number): string | null => {
    if (depth > depthMax) return `${inner} is nested too deeply`;
    for (const name of readdirSync(join(folder, inner)).sort()) {
      if (skips(name)) continue;
      const path = inner === "" ? name : `${inner}/${name}`;
      const found = lstatSync(join(folder, path));
      if (found.isDirectory()) {
        const problem = walk(path, depth + 1);
        if (problem !== null) return problem;
      } else if (found.isFile()) {
        const bytes = readFile(join(folder, path), left);
        if (bytes === null || files.length >= bounds.files)
          return `there are more than ${bounds.files} files or ${bounds.bytes} bytes`;
        left -= bytes.length;
        files.push({ path, bytes });
      } else return `${path} is not a plain file`;
    }
    return null;
  };
  try {
    const problem = walk("", 0);
    return problem === null ? { ok: true, value: files } : { ok: false, message: problem };
  } catch (error) {
    return { ok: false, message: `cannot be read (${errorCode(error)})` };
  }
}

/** Changes whenever a file of the folder does, as far as the file system reports it; null where it cannot be read. */
export function treeStamp(folder: string, filesMax: number, skips: Skips): string | null {
  const marks: string[] = [];
  const walk = (inner: string, depth: number): boolean => {
    if (depth > depthMax) return false;
    for (const name of readdirSync(join(folder, inner)).sort()) {
      if (skips(name)) continue;
      const path = inner === "" ? name : `${inner}/${name}`;
      const found = lstatSync(join(folder, path), { bigint: true });
      if (marks.push(`${path} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`) > filesMax) return false;
      if (found.isDirectory() && !walk(path, depth + 1)) return false;
    }
    return true;
  };
  try {
    return walk("", 0) ? marks.join("\n") : null;
  } catch (error) {
    return errorCode(error) === "ENOENT" ? "" : null;
  }
}

export function bytesDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Null where the limit is exceeded. */
function readFile(path: string, bytesMax: number): Uint8Array | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(file);
    if (!fstatSync(file).isFile() || size > bytesMax) return null;
    const bytes = Buffer.alloc(size + 1);
    let length = 0;
    for (;;) {
      const count = readSync(file, bytes, length, bytes.length - length, null);
      if (count === 0) return bytes.subarray(0, length);
      length += count;
      // It grows while it is read.
      if (length > size) return null;
    }
  } finally {
    closeSync(file);
  }
}
