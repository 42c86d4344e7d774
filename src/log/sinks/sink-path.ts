// Which path a second copy of the log may have: a plain file or a socket of the user, without links.

import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { Failure } from "../../core/base/result.ts";
import type { SinkResult } from "../../core/ports/stores/sink.ts";

/** Facts about a path; null if nothing exists there. */
export interface PathFacts {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

/** INVARIANT: only a thread of the pool blocks here: a file system that hangs does not block the daemon. */
export async function checkSinkPath(path: string, kind: "file" | "socket"): Promise<SinkResult<PathFacts | null>> {
  const folder = dirname(path);
  try {
    const real = await realpath(folder);
    // Another user may be able to change a link on the path.
    if (real !== folder)
      return refused(`${folder} is reached through a symbolic link: configure the path it leads to, ${real}`);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return refused(`the folder ${folder} does not exist: mkdir -m 700 ${folder}`);
    return refused(`the folder ${folder} cannot be inspected (${code})`);
  }
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return refused(`${path} is a symbolic link: configure the path it leads to`);
    if (kind === "file" ? !found.isFile() : !found.isSocket())
      return refused(`${path} is not a ${kind === "file" ? "regular file" : "socket"}`);
    const own = process.getuid?.();
    // A socket of root belongs to the machine itself.
    if (found.uid !== own && !(kind === "socket" && found.uid === 0))
      return refused(`${path} belongs to another user (${found.uid})`);
    if (kind === "file" && found.nlink !== 1) return refused(`${path} has more than one hard link`);
    if (kind === "file" && (found.mode & 0o022) !== 0)
      return refused(`${path} is writable by others: chmod go-w ${path}`);
    const { dev, ino, size } = found;
    return { ok: true, value: { dev, ino, size } };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" && kind === "file") return { ok: true, value: null };
    return refused(code === "ENOENT" ? `no collector listens at ${path}` : `${path} cannot be inspected (${code})`);
  }
}

function refused(message: string): Failure {
  return { ok: false, message };
}
