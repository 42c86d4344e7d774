// Lists the files below a folder without leaving it: follows no link, opens nothing, and limits everything.

import { type BigIntStats, type Dirent, lstatSync, opendirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../core/base/error-code.ts";
import type { DiagnosticCode } from "../core/notation/diagnostic.ts";
import { isThere, kindOf, liesInside } from "./path-target.ts";
import { isSettled, stampText } from "./stamp.ts";

export interface ListedFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Changes whenever the file does: its size, its times, its inode. */
  readonly stamp: string;
  /** Old enough that a further change would change the stamp. */
  readonly settled: boolean;
}

/** An entry that exists and is not read. The message continues after its name. */
export interface ListingProblem {
  readonly path: string;
  readonly code: DiagnosticCode;
  readonly message: string;
}

export interface FolderListing {
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
  readonly problems: readonly ListingProblem[];
}

export interface ListingLimits {
  readonly filesMax: number;
  /** Nested folders. */
  readonly depthMax: number;
  /** Names examined, of any kind. */
  readonly entriesMax: number;
  /** Of one file; a longer one is reported as a problem. */
  readonly fileBytesMax: number;
  /** Of all files together. */
  readonly bytesMax: number;
}

export interface ListingOptions {
  readonly folder: string;
  /** The folder, with links followed, must lie in here; a link out of it would be followed for every file. */
  readonly inside: string;
  readonly now: number;
  readonly limits: ListingLimits;
  /** A file, by its path relative to the folder. */
  isWanted(path: string): boolean;
  /** A folder in it. */
  isEntered(path: string): boolean;
}

/** INVARIANT: never throws. A missing folder counts as empty. */
export function listFolder(options: ListingOptions): FolderListing {
  const walk = new Walk(options);
  for (const _ of walk.folder("", 0));
  return walk.found();
}

/** The same in steps: `pause` lets other work of this process run, because a large folder takes long. */
export async function listFolderInSteps(options: ListingOptions, pause: () => Promise<void>): Promise<FolderListing> {
  const walk = new Walk(options);
  for (const _ of walk.folder("", 0)) await pause();
  return walk.found();
}

/** Names and files examined in one step. */
const stepEntries = 256;

class Walk {
  readonly files: ListedFile[] = [];
  readonly problems: ListingProblem[] = [];
  readonly #options: ListingOptions;
  #entries = 0;
  #bytes = 0n;
  #full = false;
  #looked = 0;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  found(): FolderListing {
    return { files: this.files.sort(byPath), problems: this.problems.sort(byPath) };
  }

  /** Yields after every step. */
  *folder(path: string, depth: number): Generator<void, void> {
    const { folder, inside, limits } = this.#options;
    if (path === "" && !liesInside(folder, inside)) {
      if (isThere(folder))
        this.#problem(path, "escapes_root", "this folder is a link to a folder outside the workspace; it is ignored");
      return;
    }
    if (depth > limits.depthMax) {
      this.#problem(path, "too_large", `this folder is more than ${limits.depthMax} levels deep and is ignored`);
      return;
    }
    for (const entry of yield* this.#entriesOf(path))
      yield* this.#entry(path === "" ? entry.name : `${path}/${entry.name}`, entry, depth);
  }

  #isStep(): boolean {
    return ++this.#looked % stepEntries === 0;
  }

  *#entriesOf(path: string): Generator<void, readonly Dirent[]> {
    const entries: Dirent[] = [];
    try {
      const open = opendirSync(join(this.#options.folder, path));
      try {
        for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
          if (++this.#entries > this.#options.limits.entriesMax) {
            this.#stop(path, `there are more than ${this.#options.limits.entriesMax} names here; the rest is ignored`);
            break;
          }
          entries.push(entry);
          if (this.#isStep()) yield;
        }
      } finally {
        open.closeSync();
      }
    } catch (error) {
      this.#problem(path, "not_understood", `this folder cannot be read (${errorCode(error)})`);
    }
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** Names with a leading dot belong to other programs. */
  *#entry(path: string, entry: Dirent, depth: number): Generator<void, void> {
    if (this.#full || entry.name.startsWith(".")) return;
    if (this.#isStep()) yield;
    if (entry.isDirectory()) {
      if (this.#options.isEntered(path)) yield* this.folder(path, depth + 1);
    } else if (entry.isSymbolicLink()) this.#link(path);
    else if (!this.#options.isWanted(path)) return;
    else if (entry.isFile()) this.#file(path);
    else this.#problem(path, "not_understood", "this is not a plain file");
  }

  /**
   * A link to something inside the folder is skipped, because its target is listed; any other target is not ours to
   * read.
   */
  #link(path: string): void {
    const { folder, isWanted, isEntered } = this.#options;
    const full = join(folder, path);
    const leadsTo = kindOf(full);
    if (!(leadsTo === "folder" ? isEntered(path) : isWanted(path)) || liesInside(full, folder)) return;
    const leads = leadsTo === null ? "nowhere, or to itself" : "out of this folder";
    this.#problem(path, "escapes_root", `this link leads ${leads}; it is not followed`);
  }

  #file(path: string): void {
    const { folder, limits, now } = this.#options;
    let found: BigIntStats;
    try {
      found = lstatSync(join(folder, path), { bigint: true });
    } catch (error) {
      this.#problem(path, "not_understood", `this file cannot be inspected (${errorCode(error)})`);
      return;
    }
    if (found.size > limits.fileBytesMax) {
      this.#problem(path, "too_large", `this file is longer than ${limits.fileBytesMax} bytes`);
      return;
    }
    this.#bytes += found.size;
    if (this.files.length >= limits.filesMax)
      this.#stop(path, `there are more than ${limits.filesMax} files here; the rest is ignored`);
    else if (this.#bytes > limits.bytesMax)
      this.#stop(path, `the files are longer than ${limits.bytesMax} bytes in total; the rest is ignored`);
    else this.files.push({ path, stamp: stampText(found), settled: isSettled(found, now) });
  }

  #stop(path: string, message: string): void {
    if (!this.#full) this.#problem(path, "too_large", message);
    this.#full = true;
  }

  #problem(path: string, code: DiagnosticCode, message: string): void {
    this.problems.push({ path, code, message });
  }
}

function byPath(left: { readonly path: string }, right: { readonly path: string }): number {
  return left.path < right.path ? -1 : left.path > right.path ? 1 : 0;
}
