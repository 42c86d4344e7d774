// File access of one agent, through a worker process that the kernel restricts to the agent's trees. Every path is
// decided by its name before anything is opened, and again by its real path wherever a link is involved.
import type { FileEntry, FileFacts, FileMatch, FilePath, FileResult, Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { FileJudge, GuardedTrees } from "./file-judge.ts";
import { type FileTree, isStillThere, locateTrees, type OpenTree } from "./open-trees.ts";
import { below, type FileOperation, FileReach } from "./reach.ts";
import { fileRefusal } from "./refusals.ts";
import { type BelowLimits, globBelow, inTurns, listJob, type SearchResult, searchBelow } from "./tree-search.ts";
import {
  contentBytesMax,
  contentRequest,
  plainRequest,
  readChunk,
  readChunkBytesMax,
  readFacts,
  readNothing,
  readRequest,
} from "./wire.ts";
import { FileWorkers, type WorkerEnforcement } from "./worker.ts";
import type { WorkerRestrictions } from "./worker-setup.ts";

export interface FileLimits extends BelowLimits {
  /** Limit of one read. */
  readonly readBytesMax: number;
  /** No file grows beyond this, by writing or by appending. */
  readonly fileBytesMax: number;
  /** Timeout of one operation of the worker; all of its pending requests are refused then. */
  readonly silenceMillisecondsMax: number;
  /** Limit of one list, glob or search. */
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
  /** Path of the native program. */
  readonly program: string;
  /** From the plan: absolute, normalized; each at most once. */
  readonly trees: readonly FileTree[];
  readonly judge: Judge;
  /** Covered only by a grant that names them. */
  readonly protectedPaths: readonly (readonly string[])[];
  /** At or below these nothing is written or deleted, whatever is granted. */
  readonly pinned: readonly FilePath[];
  readonly restrictions: WorkerRestrictions;
  readonly limits: FileLimits;
}

/** Before the umask of the process. */
const newFileMode = 0o666;
const newFolderMode = 0o777;

const FACTS: FileOperation<FileFacts> = { verb: "fs.read", request: plainRequest("s"), value: readFacts };
const MAKE_FOLDER: FileOperation<true> = {
  verb: "fs.write",
  request: plainRequest("m", newFolderMode),
  value: readNothing,
};
const REMOVE: FileOperation<true> = { verb: "fs.delete", request: plainRequest("d"), value: readNothing };

interface SharedWorker {
  readonly guarded: GuardedTrees;
  readonly workers: FileWorkers;
}

export class ConfinedFiles implements Files {
  readonly #of: FilesOf;
  #guarded: GuardedTrees;
  readonly #workers: FileWorkers;
  readonly #reach: FileReach;
  readonly #limits: FileLimits;
  #leftOut = 0;

  constructor(of: FilesOf, shared?: SharedWorker) {
    const { program, trees, judge, protectedPaths, pinned, restrictions, limits } = of;
    const guarded = shared?.guarded ?? new GuardedTrees(locateTrees(trees), protectedPaths);
    this.#of = of;
    this.#guarded = guarded;
    this.#limits = limits;
    this.#workers = shared?.workers ?? new FileWorkers({ program, trees: guarded.trees, restrictions, ...limits });
    this.#reach = new FileReach(this.#workers, guarded.trees, new FileJudge(judge, guarded), pinned);
  }

  /** The same trees and the same worker with another judge. Closing either closes both. */
  under(judge: Judge, protectedPaths: FilesOf["protectedPaths"] = this.#of.protectedPaths): ConfinedFiles {
    if (this.#guarded.all !== protectedPaths) this.#guarded = new GuardedTrees(this.#guarded.trees, protectedPaths);
    return new ConfinedFiles(
      { ...this.#of, judge, protectedPaths },
      { guarded: this.#guarded, workers: this.#workers },
    );
  }

  /**
   * Whether the names of the trees still lead to the opened folders: a folder may have been moved and created again.
   */
  isCurrent(): boolean {
    const { trees: open } = this.#guarded;
    const { trees } = this.#of;
    return open.length === trees.length ? open.every(isStillThere) : areSameTrees(open, locateTrees(trees));
  }

  /** Entries and matches that exist and are not granted, so far. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** What the kernel enforces; null while no worker runs. */
  get enforcement(): WorkerEnforcement | null {
    return this.#workers.enforcement;
  }

  get processId(): number | undefined {
    return this.#workers.processId;
  }

  read(path: FilePath, range: { readonly offset: number; readonly bytesMax: number }): Promise<FileResult<Uint8Array>> {
    const { offset, bytesMax } = range;
    if (!isCount(offset) || !isCount(bytesMax)) return Promise.resolve(fileRefusal("invalid_input", "not a range"));
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
    await inTurns(some.items, ({ path: name, kind }) => {
      const entry = name === null ? null : below(at, [name]);
      if (entry !== null && this.#reach.isReadable(entry)) entries.push({ path: entry.named, kind });
      else this.#leftOut++;
    });
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

  /** In chunks; the file may change between two of them, as it may for any reader. */
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
      return Promise.resolve(fileRefusal("invalid_input", `more than ${contentBytesMax} bytes at once`));
    const request = contentRequest(kind, newFileMode, content);
    return this.#reach.run({ verb: "fs.write", request, value: readNothing }, path).then(nothing);
  }

  #items(wanted: number): number {
    return Math.max(0, Math.min(Math.trunc(wanted) || 0, this.#limits.itemsMax));
  }

  #counted<T>(result: FileResult<SearchResult<T>>): FileResult<readonly T[]> {
    if (!result.ok) return result;
    this.#leftOut += result.value.leftOut;
    return { ok: true, value: result.value.items };
  }
}

/** A tree that did not exist at first may exist by now. */
function areSameTrees(before: readonly OpenTree[], now: readonly OpenTree[]): boolean {
  return (
    now.length === before.length &&
    before.every(({ device, inode, inside }, at) => {
      const tree = now[at];
      return tree?.device === device && tree.inode === inode && tree.inside.length === inside.length;
    })
  );
}

/** A file with several hard links is read only where its whole tree is granted. */
function readJob<T>(
  offset: number,
  bytesMax: number,
  result: (size: number, bytes: Uint8Array) => T,
): FileOperation<T> {
  return {
    verb: "fs.read",
    request: readRequest(offset, bytesMax, true),
    whole: readRequest(offset, bytesMax, false),
    value: (body) => {
      const piece = readChunk(body);
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
