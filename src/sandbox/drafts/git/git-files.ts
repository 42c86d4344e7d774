// Reads git's files from outside: regular files only, never through a link, within a size limit.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, printable, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";

export interface GitFile {
  readonly bytes: Buffer;
  readonly changedNanoseconds: bigint;
  readonly device: bigint;
  readonly inode: bigint;
}

/** Null where nothing exists. */
export function readGitFile(path: string, bytesMax: number, name: string): GitResult<GitFile | null> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return value(null);
    if (errorCode(error) === "ELOOP") return refuseGit("unsupported", `${printable(name)} is a symbolic link`);
    return refuseGit("unsupported", `${printable(name)} cannot be read (${errorCode(error)})`);
  }
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) return refuseGit("unsupported", `${printable(name)} is not a regular file`);
    if (stat.size > BigInt(bytesMax))
      return refuseGit("too_large", `${printable(name)} is larger than ${bytesMax} bytes`);
    const bytes = Buffer.alloc(Number(stat.size));
    let filled = 0;
    while (filled < bytes.length) {
      const count = readSync(fd, bytes, filled, bytes.length - filled, filled);
      if (count === 0) return refuseGit("conflict", `${printable(name)} changed while it was read`);
      filled += count;
    }
    return value({ bytes, changedNanoseconds: stat.ctimeNs, device: stat.dev, inode: stat.ino });
  } finally {
    closeSync(fd);
  }
}

/** The kind of a name, without following it; null where nothing exists. */
export function kindAt(path: string): { readonly kind: "folder" | "file" | "other"; readonly changed: bigint } | null {
  try {
    const stat = lstatSync(path, { bigint: true });
    return { kind: stat.isDirectory() ? "folder" : stat.isFile() ? "file" : "other", changed: stat.ctimeNs };
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    return { kind: "other", changed: 0n };
  }
}
