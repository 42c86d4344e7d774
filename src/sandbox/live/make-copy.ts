// The initial copy of a project for a live root: measured before it is made, without the names hidden from programs.
import {
  type BigIntStats,
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
import { blockBytes, type DraftSize } from "../drafts/draft-size.ts";
import type { BaseTree } from "./base-tree.ts";
import { type FileStamp, isSameStamp, stampOf, type TreeFolder } from "./tree-folder.ts";

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

/** A name of the project, found when it was measured. */
interface ListedEntry {
  readonly name: string;
  readonly found: FileStamp;
  /** Of a folder. */
  readonly below: readonly ListedEntry[];
}

export type CopyResult =
  | { readonly ok: true; readonly size: DraftSize }
  | { readonly ok: false; readonly reason: string };

/** Rejects as the system does. */
export async function makeCopy(request: CopyRequest): Promise<CopyResult> {
  const { real, limits } = request;
  const entries = await list(request, real, [], { names: 0, bytes: 0, turn: 0 });
  if (entries === null) {
    const gibibytes = (limits.bytes / 1_073_741_824).toFixed(1);
    const reason = `the folder has more than ${limits.names} names or ${gibibytes} GiB, or is nested too deeply, and a live root copies all of it`;
    return { ok: false, reason };
  }
  const copying = new Copying(request.base);
  await copying.folder(real, entries, [], request.target);
  request.base.flush();
  return { ok: true, size: copying.size };
}

/** What is copied, found once; null beyond the limits. */
async function list(
  request: CopyRequest,
  folder: TreeFolder,
  path: readonly string[],
  sum: { names: number; bytes: number; turn: number },
): Promise<readonly ListedEntry[] | null> {
  const { limits } = request;
  if (path.length > depthMax) return null;
  const entries: ListedEntry[] = [];
  for (const name of folder.names().names) {
    if (++sum.turn % entriesPerTurn === 0) await setImmediate();
    const below = [...path, name];
    const found = request.isHidden(below) ? null : folder.stamp(name);
    if (found === null || found === "other") continue;
    sum.names++;
    sum.bytes += found.kind === "file" ? Number(found.bytes) : 0;
    if (sum.names > limits.names || sum.bytes > limits.bytes) return null;
    const child = found.kind === "folder" ? folder.child(name) : null;
    // A folder that cannot be opened, or is on another file system, is left out.
    if (found.kind === "folder" && child === null) continue;
    try {
      const inside = child === null ? [] : await list(request, child, below, sum);
      if (inside === null) return null;
      entries.push({ name, found, below: inside });
    } finally {
      child?.close();
    }
  }
  return entries;
}

/** The project may change after it was listed: a name that is something else by now is left to the first comparison. */
class Copying {
  readonly #base: BaseTree;
  readonly #size = { bytes: 0, inodes: 0 };
  #turn = 0;

  constructor(base: BaseTree) {
    this.#base = base;
  }

  get size(): DraftSize {
    return this.#size;
  }

  async folder(
    folder: TreeFolder,
    entries: readonly ListedEntry[],
    path: readonly string[],
    target: string,
  ): Promise<void> {
    for (const entry of entries) {
      if (++this.#turn % entriesPerTurn === 0) await setImmediate();
      await this.#entry(folder, entry, [...path, entry.name], join(target, entry.name));
    }
  }

  async #entry(
    folder: TreeFolder,
    { name, found, below }: ListedEntry,
    path: readonly string[],
    target: string,
  ): Promise<void> {
    if (found.kind === "folder") {
      const child = folder.child(name);
      if (child === null) return;
      mkdirSync(target, { mode: 0o755 });
      this.#settle(path, found, lstatSync(target, BIG));
      try {
        await this.folder(child, below, path, target);
      } finally {
        child.close();
      }
    } else if (found.kind === "link") {
      if (!isSameStamp(folder.stamp(name), found)) return;
      symlinkSync(folder.readLink(name), target);
      this.#settle(path, found, lstatSync(target, BIG));
    } else {
      const copied = await copyWithTimes(folder, name, target);
      if (copied === null) return;
      this.#size.bytes += Number(copied.made.blocks) * blockBytes;
      this.#settle(path, copied.seen, copied.made);
    }
  }

  #settle(path: readonly string[], real: FileStamp, made: BigIntStats): void {
    this.#size.inodes++;
    const stamp = stampOf(made, made.dev);
    this.#base.settle(path, real, stamp === "other" ? null : stamp);
  }
}

const BIG = { bigint: true } as const;

export interface CopiedFile {
  /** The source when it was read. */
  readonly seen: FileStamp;
  readonly made: BigIntStats;
}

/** Copies a plain file with its times and its executable bit; null where it cannot be read. */
export async function copyWithTimes(folder: TreeFolder, name: string, target: string): Promise<CopiedFile | null> {
  const opened = folder.openFile(name);
  if (opened === null) return null;
  const { descriptor: source, facts } = opened;
  try {
    const seen = stampOf(facts, folder.device);
    if (seen === "other") return null;
    const [mode, seconds] = [seen.isExecutable ? 0o755 : 0o644, Number(facts.mtimeNs / 1000n) / 1e6];
    if (facts.size <= smallBytesMax)
      return { seen, made: copySmall(source, Number(facts.size), target, { mode, seconds }) };
    await copyFile(`/proc/self/fd/${source}`, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(target, mode);
    await utimes(target, seconds, seconds);
    return { seen, made: lstatSync(target, BIG) };
  } finally {
    closeSync(source);
  }
}

const smallBytesMax = 65_536;

/** Without the thread pool, whose three round trips cost several times what copying a source file does. */
function copySmall(
  source: number,
  size: number,
  target: string,
  facts: { readonly mode: number; readonly seconds: number },
): BigIntStats {
  const content = Buffer.allocUnsafe(size);
  const bytes = readSync(source, content, 0, size, 0);
  const made = openSync(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, facts.mode);
  try {
    for (let at = 0; at < bytes; ) at += writeSync(made, content, at, bytes - at);
    // The mode is given whatever the umask is.
    fchmodSync(made, facts.mode);
    futimesSync(made, facts.seconds, facts.seconds);
    return fstatSync(made, BIG);
  } finally {
    closeSync(made);
  }
}
