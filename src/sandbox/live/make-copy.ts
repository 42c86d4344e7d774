// The initial copy of a project for a live root: measured before it is made, without the names hidden from programs.
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { chmod, copyFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { BaseTree } from "./base-tree.ts";
import { type FileStamp, stampOf, type TreeFolder } from "./tree-folder.ts";

export interface CopyLimits {
  readonly names: number;
  readonly bytes: number;
}

export const COPY_LIMITS: CopyLimits = { names: 200_000, bytes: 4 * 1_073_741_824 };

export interface CopyRequest {
  readonly real: TreeFolder;
  /** Absolute: an empty folder of our state that no program sees yet. */
  readonly target: string;
  readonly base: BaseTree;
  readonly limits: CopyLimits;
  /** Names hidden from programs, below the root. */
  isHidden(path: readonly string[]): boolean;
}

/** Entries examined in one event-loop turn. */
const entriesPerTurn = 100;
const depthMax = 200;

/** Null once the copy exists; else why it was not made. Rejects as the system does. */
export async function makeCopy(request: CopyRequest): Promise<string | null> {
  const { real, limits } = request;
  const sum = { names: 0, bytes: 0, turn: 0 };
  const isWithin = await measure(request, real, [], sum);
  if (!isWithin) {
    const gibibytes = (limits.bytes / 1_073_741_824).toFixed(1);
    return `the folder has more than ${limits.names} names or ${gibibytes} GiB, or is too deep, and a live root is a copy of all of it`;
  }
  await new Copying(request).folder(real, [], request.target);
  request.base.flush();
  return null;
}

async function measure(
  request: CopyRequest,
  folder: TreeFolder,
  path: readonly string[],
  sum: { names: number; bytes: number; turn: number },
): Promise<boolean> {
  const { limits } = request;
  if (path.length > depthMax) return false;
  for (const name of folder.names().names) {
    if (++sum.turn % entriesPerTurn === 0) await setImmediate();
    const below = [...path, name];
    const found = request.isHidden(below) ? null : folder.stamp(name);
    if (found === null || found === "other") continue;
    sum.names++;
    sum.bytes += found.kind === "file" ? Number(found.bytes) : 0;
    if (sum.names > limits.names || sum.bytes > limits.bytes) return false;
    const child = found.kind === "folder" ? folder.child(name) : null;
    try {
      if (child !== null && !(await measure(request, child, below, sum))) return false;
    } finally {
      child?.close();
    }
  }
  return true;
}

class Copying {
  readonly #request: CopyRequest;
  #turn = 0;

  constructor(request: CopyRequest) {
    this.#request = request;
  }

  async folder(folder: TreeFolder, path: readonly string[], target: string): Promise<void> {
    for (const name of folder.names().names) {
      if (++this.#turn % entriesPerTurn === 0) await setImmediate();
      const below = [...path, name];
      if (this.#request.isHidden(below)) continue;
      const found = folder.stamp(name);
      if (found !== null && found !== "other") await this.#entry(folder, name, found, below, join(target, name));
    }
  }

  async #entry(
    folder: TreeFolder,
    name: string,
    found: FileStamp,
    path: readonly string[],
    target: string,
  ): Promise<void> {
    const { base } = this.#request;
    if (found.kind === "folder") {
      const child = folder.child(name);
      // A folder that cannot be opened, or is on another file system, is left out.
      if (child === null) return;
      mkdirSync(target, { mode: 0o755 });
      base.settle(path, found, stampAt(target));
      try {
        await this.folder(child, path, target);
      } finally {
        child.close();
      }
    } else if (found.kind === "link") {
      symlinkSync(folder.readLink(name), target);
      base.settle(path, found, stampAt(target));
    } else {
      const seen = await copyWithTimes(folder, name, target);
      if (seen !== null) base.settle(path, seen, stampAt(target));
    }
  }
}

/** Copies a plain file with its times and its executable bit; returns its stamp, or null where it cannot be read. */
export async function copyWithTimes(folder: TreeFolder, name: string, target: string): Promise<FileStamp | null> {
  const source = folder.openFile(name);
  if (source === null) return null;
  try {
    const facts = fstatSync(source, { bigint: true });
    const seen = stampOf(facts, folder.device);
    if (seen === "other") return null;
    const [mode, seconds] = [seen.isExecutable ? 0o755 : 0o644, Number(facts.mtimeNs / 1000n) / 1e6];
    if (facts.size <= smallBytesMax) {
      copySmall(source, Number(facts.size), target, { mode, seconds });
      return seen;
    }
    await copyFile(`/proc/self/fd/${source}`, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(target, mode);
    await utimes(target, seconds, seconds);
    return seen;
  } finally {
    closeSync(source);
  }
}

const smallBytesMax = 65_536;

/** Without the thread pool, whose three round trips cost several times what copying a source file does. */
function copySmall(source: number, size: number, target: string, facts: { mode: number; seconds: number }): void {
  const content = Buffer.allocUnsafe(size);
  const bytes = readSync(source, content, 0, size, 0);
  const made = openSync(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, facts.mode);
  try {
    for (let at = 0; at < bytes; ) at += writeSync(made, content, at, bytes - at);
    fchmodSync(made, facts.mode);
    futimesSync(made, facts.seconds, facts.seconds);
  } finally {
    closeSync(made);
  }
}

function stampAt(path: string): FileStamp | null {
  const facts = lstatSync(path, { bigint: true });
  const stamp = stampOf(facts, facts.dev);
  return stamp === "other" ? null : stamp;
}
