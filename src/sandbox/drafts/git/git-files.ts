// Reading git's files from the outside: regular files alone, never through a link, never more than a limit.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { type GitResult, printable, stay, value } from "../../plan/drafts/git/stay.ts";

export interface GitFile {
  readonly bytes: Buffer;
  readonly changedNanoseconds: bigint;
  readonly device: bigint;
  readonly inode: bigint;
}

/** Null where there is nothing. */
export function readGitFile(path: string, bytesMax: number, name: string): GitResult<GitFile | null> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return value(null);
    if (codeOf(error) === "ELOOP") return stay("unsupported", `${printable(name)} is a symbolic link`);
    return stay("unsupported", `${printable(name)} cannot be read (${codeOf(error)})`);
  }
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) return stay("unsupported", `${printable(name)} is not a regular file`);
    if (stat.size > BigInt(bytesMax)) return stay("too_large", `${printable(name)} is larger than ${bytesMax} bytes`);
    const bytes = Buffer.alloc(Number(stat.size));
    let filled = 0;
    while (filled < bytes.length) {
      const count = readSync(fd, bytes, filled, bytes.length - filled, filled);
      if (count === 0) return stay("conflict", `${printable(name)} changed while it was read`);
      filled += count;
    }
    return value({ bytes, changedNanoseconds: stat.ctimeNs, device: stat.dev, inode: stat.ino });
  } finally {
    closeSync(fd);
  }
}

/** What a name is, without following it; null where there is nothing. */
export function kindAt(path: string): { readonly kind: "folder" | "file" | "other"; readonly changed: bigint } | null {
  try {
    const stat = lstatSync(path, { bigint: true });
    return { kind: stat.isDirectory() ? "folder" : stat.isFile() ? "file" : "other", changed: stat.ctimeNs };
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    return { kind: "other", changed: 0n };
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown error";
}
