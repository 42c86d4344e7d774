// Files of one agent, through a worker that the kernel holds to the agent's trees. Every path is decided by its name
// before anything is opened, and by where it really leads wherever a link takes part.
import type { FileEntry, FileFacts, FileMatch, FilePath, FileResult, Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { type BelowLimits, type Gathered, globBelow, listJob, searchBelow } from "./below.ts";
import { FileJudge, GuardedPlaces } from "./file-judge.ts";
import { type FileTree, isStillThere, lookAt, type Place } from "./places.ts";
import { below, FileReach, type Job } from "./reach.ts";
import { refused } from "./refusals.ts";
import type { Walls } from "./walls.ts";
import {
  contentBytesMax,
  contentRequest,
  plainRequest,
  readChunkBytesMax,
  readFacts,
  readNothing,
  readPiece,
  readRequest,
} from "./wire.ts";

import { FileWorkers, type Held } from "./worker.ts";

export interface FileLimits extends BelowLimits {
  /** What one read returns at most. */
  readonly readBytesMax: number;
  /** No file is made longer than this, by writing or by appending. */
  readonly fileBytesMax: number;
  /** How long one operation may keep the worker; all of its answers are refused then. */
  readonly silenceMillisecondsMax: number;
  /** What one list, glob or search returns at most. */
  readonly itemsMax: number;
}

export const FILE_LIMITS: FileLimits = {
  readBytesMax: 67_108_864,
  fileBytesMax: 1_073_741_824,
  silenceMillisecondsMax: 30_000,
  itemsMax: 100_000,
  walkEntriesMax: 1_000_000,
  walkDepthMax: 256,
  searchFileBytesMax: 4_194_304,
};

export interface FilesOf {
  /** The native program. */
  readonly program: string;
  /** From the plan: absolute, normal; each at most once. */
  readonly trees: readonly FileTree[];
  readonly judge: Judge;
  /** Opened only by a grant that names them. */
  readonly protectedPaths: readonly (readonly string[])[];
  /** At or below these nothing is written or deleted, whatever is granted. */
  readonly pinned: readonly FilePath[];
  readonly walls: Walls;
  readonly limits: FileLimits;
}

/** Before the process's own mask. */
const newFileMode = 0o666;
const newFolderMode = 0o777;

const FACTS: Job<FileFacts> = { verb: "fs.read", request: plainRequest("s"), value: readFacts };
const MAKE_FOLDER: Job<true> = { verb: "fs.write", request: plainRequest("m", newFolderMode), value: readNothing };
const REMOVE: Job<true> = { verb: "fs.delete", request: plainRequest("d"), value: readNothing };

interface Shared {
  readonly guarded: GuardedPlaces;
  readonly workers: FileWorkers;
}

export class ConfinedFiles implements Files {
  readonly #of: FilesOf;
  #guarded: GuardedPlaces;
  readonly #workers: FileWorkers;
  readonly #reach: FileReach;
  readonly #limits: FileLimits;
  #leftOut = 0;

  constructor(of: FilesOf, shared?: Shared) {
    const { program, trees, judge, protectedPaths, pinned, walls, limits } = of;
    const guarded = shared?.guarded ?? new GuardedPlaces(lookAt(trees), protectedPaths);
    const { places } = guarded;
    this.#of = of;
    this.#guarded = guarded;
    this.#limits = limits;
    this.#workers = shared?.workers ?? new FileWorkers({ program, places, walls, ...limits });
    this.#reach = new FileReach(this.#workers, places, new FileJudge(judge, guarded), pinned);
  }

  /** The same trees and the same worker, decided on by another judge. Closing either closes both. */
  under(judge: Judge, protectedPaths: FilesOf["protectedPaths"] = this.#of.protectedPaths): ConfinedFiles {
    if (this.#guarded.all !== protectedPaths) this.#guarded = new GuardedPlaces(this.#guarded.places, protectedPaths);
    return new ConfinedFiles(
      { ...this.#of, judge, protectedPaths },
      { guarded: this.#guarded, workers: this.#workers },
    );
  }

  /** Whether the names of the trees still lead to what was opened: a folder may have been moved and made anew. */
  isCurrent(): boolean {
    const { places } = this.#guarded;
    const { trees } = this.#of;
    return places.length === trees.length ? places.every(isStillThere) : isSamePlaces(places, lookAt(trees));
  }

  /** Entries and matches that were there and not granted, so far. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** What the kernel holds; null while no worker runs. */
  get held(): Held | null {
    return this.#workers.held;
  }

  get processId(): number | undefined {
    return this.#workers.processId;
  }

  read(path: FilePath, range: { readonly offset: number; readonly bytesMax: number }): Promise<FileResult<Uint8Array>> {
    const { offset, bytesMax } = range;
    if (!isCount(offset) || !isCount(bytesMax)) return Promise.resolve(refused("invalid_input", "not a range"));
    const wanted = Math.min(bytesMax, this.#limits.readBytesMax);
    return wanted <= readChunkBytesMax
      ? this.#reach.run(
          readJob(offset, wanted, (_, bytes) => bytes),
          path,
        )
      : this.#readLong(path, offset, wanted);
  }

  write(path: FilePath, content: Uint8Array): Promise<FileResult<null>> {
    return this.#change(path, "w", content);
  }

  append(path: FilePath, content: Uint8Array): Promise<FileResult<null>> {
    return this.#change(path, "a", content);
  }

  makeFolder(path: FilePath): Promise<FileResult<null>> {
    return this.#reach.run(MAKE_FOLDER, path).then(nothing);
  }

  remove(path: FilePath): Promise<FileResult<null>> {
    return this.#reach.run(REMOVE, path).then(nothing);
  }

  stat(path: FilePath): Promise<FileResult<FileFacts>> {
    return this.#reach.run(FACTS, path);
  }

  async list(path: FilePath, entriesMax: number): Promise<FileResult<readonly FileEntry[]>> {
    const listed = await this.#reach.run(listJob(this.#limits.walkEntriesMax), path);
    if (!listed.ok) return listed;
    const { some, at } = listed.value;
    const entries: FileEntry[] = [];
    for (const { path: name, kind } of some.items) {
      const entry = name === null ? null : below(at, [name]);
      if (entry !== null && this.#reach.isReadable(entry)) entries.push({ path: entry.asked, kind });
      else this.#leftOut++;
    }
    entries.sort((left, right) => ((left.path.at(-1) as string) < (right.path.at(-1) as string) ? -1 : 1));
    return { ok: true, value: entries.slice(0, this.#items(entriesMax)) };
  }

  async glob(root: FilePath, pattern: string, entriesMax: number): Promise<FileResult<readonly FileEntry[]>> {
    return this.#counted(await globBelow(this.#reach, root, pattern, this.#items(entriesMax), this.#limits));
  }

  async search(root: FilePath, text: string, matchesMax: number): Promise<FileResult<readonly FileMatch[]>> {
    return this.#counted(await searchBelow(this.#reach, root, text, this.#items(matchesMax), this.#limits));
  }

  close(): void {
    this.#workers.close();
  }

  /** Piece by piece; the file may change between two of them, as it may under any reader. */
  async #readLong(path: FilePath, offset: number, wanted: number): Promise<FileResult<Uint8Array>> {
    const pieces: Uint8Array[] = [];
    for (let count = 0; count < wanted; ) {
      const bytesMax = Math.min(readChunkBytesMax, wanted - count);
      const piece = await this.#reach.run(
        readJob(offset + count, bytesMax, (size, bytes) => ({ size, bytes })),
        path,
      );
      if (!piece.ok) return piece;
      const { bytes, size } = piece.value;
      pieces.push(bytes);
      count += bytes.length;
      if (bytes.length < bytesMax || offset + count === size) break;
    }
    return { ok: true, value: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces) };
  }

  #change(path: FilePath, kind: "w" | "a", content: Uint8Array): Promise<FileResult<null>> {
    if (content.length > contentBytesMax)
      return Promise.resolve(refused("invalid_input", `more than ${contentBytesMax} bytes at once`));
    const request = contentRequest(kind, newFileMode, content);
    return this.#reach.run({ verb: "fs.write", request, value: readNothing }, path).then(nothing);
  }

  #items(wanted: number): number {
    return Math.max(0, Math.min(Math.trunc(wanted) || 0, this.#limits.itemsMax));
  }

  #counted<T>(result: FileResult<Gathered<T>>): FileResult<readonly T[]> {
    if (!result.ok) return result;
    this.#leftOut += result.value.leftOut;
    return { ok: true, value: result.value.items };
  }
}

/** Where a tree was not to be found at first, it may be by now. */
function isSamePlaces(before: readonly Place[], now: readonly Place[]): boolean {
  return (
    now.length === before.length &&
    before.every(({ device, inode, inside }, at) => {
      const place = now[at];
      return place?.device === device && place.inode === inode && place.inside.length === inside.length;
    })
  );
}

/** A file with several names is read only where its whole tree is granted. */
function readJob<T>(offset: number, bytesMax: number, result: (size: number, bytes: Uint8Array) => T): Job<T> {
  return {
    verb: "fs.read",
    request: readRequest(offset, bytesMax, true),
    whole: readRequest(offset, bytesMax, false),
    value: (body) => {
      const piece = readPiece(body);
      return piece === null ? null : result(piece.size, piece.bytes);
    },
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function nothing(result: FileResult<true>): FileResult<null> {
  return result.ok ? { ok: true, value: null } : result;
}
