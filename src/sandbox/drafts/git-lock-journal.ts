// A journal of the lock files that an import creates in a person's repository, written before and after they are
// created: a killed daemon leaves them behind, and every git in that repository would fail.
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sha256 } from "../../platform/digest.ts";
import { writeWhole } from "../../platform/write-whole.ts";

const FILE = /^git-locks-[0-9a-f]{16}\.json$/;
const locksMax = 4_096;
/** The person's git holds a ref lock for milliseconds. An older lock was left behind. */
const refLockMilliseconds = 1_500;

interface Entry {
  /** Before the first lock was created. */
  readonly at: number;
  readonly wanted: readonly string[];
  /** Created by us for certain. */
  readonly taken: readonly string[];
}

export class GitLockJournal {
  readonly #path: string;
  #entry: Entry = { at: 0, wanted: [], taken: [] };

  /** `folder`: that of the draft. */
  constructor(folder: string, repository: readonly string[]) {
    this.#path = join(folder, `git-locks-${sha256(repository.join("/")).slice(0, 16)}.json`);
  }

  want(paths: readonly string[]): void {
    this.#write({ at: Date.now(), wanted: paths.slice(0, locksMax), taken: [] });
  }

  take(paths: readonly string[]): void {
    this.#write({ ...this.#entry, taken: [...new Set([...this.#entry.taken, ...paths])].slice(0, locksMax) });
  }

  /** All locks are removed. */
  clear(): void {
    rmSync(this.#path, { force: true });
  }

  #write(entry: Entry): void {
    this.#entry = entry;
    writeWhole(this.#path, JSON.stringify(entry));
  }
}

/**
 * After a crash: removes our locks. INVARIANT: a lock older than our first attempt is never removed, and an index lock
 * only where it was certainly ours, or is empty and open in no process: a running git holds an empty one open, and one
 * that waits for an editor has written it.
 */
export async function removeStaleLocks(folder: string, note: (line: string) => void): Promise<void> {
  for (const name of readdirSync(folder).filter((one) => FILE.test(one))) {
    const path = join(folder, name);
    const entry = entryIn(readFileSync(path, "utf8"));
    const left = entry?.wanted.filter((lock) => isFileSince(lock, entry.at)) ?? [];
    const isOurs = (lock: string): boolean => entry?.taken.includes(lock) === true;
    if (left.some((lock) => !isOurs(lock))) await pause(refLockMilliseconds);
    for (const lock of left) {
      if (!isFileSince(lock, entry?.at ?? Number.POSITIVE_INFINITY)) continue;
      if (isOurs(lock) || !/\/index\.lock(\.lock)?$/.test(lock) || isAbandoned(lock)) unlinkSync(lock);
      else note(`${lock} may be left from an interrupted import; remove it if no git is running`);
    }
    rmSync(path, { force: true });
  }
}

function isAbandoned(lock: string): boolean {
  if (lstatSync(lock, { throwIfNoEntry: false })?.size !== 0) return false;
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return !processes.some((id) => openFiles(id).includes(lock));
}

/** Of a process of the same user; those of others cannot be listed. A descriptor may be closed in between. */
function openFiles(id: string): readonly string[] {
  const folder = `/proc/${id}/fd`;
  const names = quiet(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => quiet(() => readlinkSync(join(folder, name))) ?? []);
}

/** Null where the process or the descriptor is gone, or belongs to another user. */
function quiet<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** The largest difference between a coarse clock and a rounded time. */
const clockMilliseconds = 20;

function isFileSince(path: string, at: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.ctimeMs >= at - clockMilliseconds;
}

function entryIn(text: string): Entry | null {
  const { at, wanted, taken } = JSON.parse(text) as Partial<Entry>;
  return typeof at === "number" && isPaths(wanted) && isPaths(taken) ? { at, wanted, taken } : null;
}

function isPaths(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string" && /^\/.*\.lock$/s.test(one));
}
