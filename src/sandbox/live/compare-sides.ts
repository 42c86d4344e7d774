// Compares project and copy with their last common state: what changed on which side, name by name.
import { setImmediate } from "node:timers/promises";
import type { BaseNode, BaseTree } from "./base-tree.ts";
import { type EntryState, type FileStamp, isSameStamp, type TreeFolder } from "./tree-folder.ts";

export interface SideChange {
  readonly path: readonly string[];
  readonly real: FileStamp | null;
  readonly copy: FileStamp | null;
  readonly isRealChanged: boolean;
  readonly isCopyChanged: boolean;
}

export interface Comparison {
  /** Parents before children. */
  readonly changes: readonly SideChange[];
  /** Names of the copy that cannot land: not file, folder or link. */
  readonly unlandable: readonly string[];
  /** Names of the copy that are not text, and folders that cannot be opened: their content is nowhere else. */
  readonly unreadable: number;
  /** Folders of each side, shallow first, for the watch. */
  readonly folders: readonly FolderPair[];
  /** False: there are too many names, and the rest was not compared. */
  readonly isComplete: boolean;
}

/** A folder with its inode on each side; null where that side has none. */
export interface FolderPair {
  readonly path: readonly string[];
  readonly real: bigint | null;
  readonly copy: bigint | null;
}

export interface CompareRequest {
  readonly real: TreeFolder;
  readonly copy: TreeFolder;
  readonly base: BaseTree;
  isHidden(path: readonly string[]): boolean;
  /** Only what the program changed: the project is looked at where the copy changed. */
  readonly isCopyOnly?: boolean;
  /** Names at the top of both sides that are not compared. */
  readonly apart?: ReadonlySet<string>;
}

const entriesPerTurn = 100;
const depthMax = 220;
/** Twice the limit of the initial copy. */
const namesMax = 400_000;

export async function compareSides(request: CompareRequest): Promise<Comparison> {
  const comparing = new Comparing(request);
  await comparing.folder(request.real, request.copy, request.base.top, []);
  return comparing.result();
}

class Comparing {
  readonly #request: CompareRequest;
  readonly #changes: SideChange[] = [];
  readonly #unlandable: string[] = [];
  readonly #folders: FolderPair[] = [];
  #unreadable = 0;
  #names = 0;
  #isComplete = true;

  constructor(request: CompareRequest) {
    this.#request = request;
  }

  result(): Comparison {
    const [changes, unlandable, unreadable, isComplete] = [
      this.#changes,
      this.#unlandable,
      this.#unreadable,
      this.#isComplete,
    ];
    const folders = this.#folders.sort((left, right) => left.path.length - right.path.length);
    return { changes, unlandable, unreadable, folders, isComplete };
  }

  async folder(
    real: TreeFolder | null,
    copy: TreeFolder | null,
    base: BaseNode | null,
    path: readonly string[],
  ): Promise<void> {
    if (path.length > depthMax) {
      this.#isComplete = false;
      return;
    }
    this.#folders.push({ path, real: real?.inode ?? null, copy: copy?.inode ?? null });
    const own = copy?.names() ?? NO_NAMES;
    this.#unreadable += own.unreadable;
    const inReal = this.#request.isCopyOnly === true ? NO_NAMES : (real?.names() ?? NO_NAMES);
    const names = new Set([...inReal.names, ...own.names, ...(base?.children.keys() ?? [])]);
    for (const name of names) {
      if (++this.#names > namesMax) {
        this.#isComplete = false;
        return;
      }
      if (this.#names % entriesPerTurn === 0) await setImmediate();
      if (path.length === 0 && this.#request.apart?.has(name) === true) continue;
      await this.#name(real, copy, base?.children.get(name) ?? null, [...path, name], name);
    }
  }

  async #name(
    real: TreeFolder | null,
    copy: TreeFolder | null,
    base: BaseNode | null,
    path: readonly string[],
    name: string,
  ): Promise<void> {
    const seenCopy = copy?.stamp(name) ?? null;
    // A pipe or a socket: nothing of the project is deleted for it.
    if (seenCopy === "other") {
      this.#unlandable.push(path.join("/"));
      return;
    }
    const isCopyChanged = !isSameStamp(seenCopy, base?.copy ?? null);
    // Not looked at, it counts as unchanged.
    const isSkipped = this.#request.isCopyOnly === true && !isCopyChanged;
    const isHidden = !isSkipped && this.#request.isHidden(path);
    const seenReal = isSkipped ? (base?.real ?? null) : isHidden ? null : plain(real?.stamp(name) ?? null);
    const isRealChanged = !isHidden && !isSameStamp(seenReal, base?.real ?? null);
    if (isRealChanged || isCopyChanged)
      this.#changes.push({ path, real: seenReal, copy: seenCopy, isRealChanged, isCopyChanged });
    const isFolder = seenReal?.kind === "folder" || seenCopy?.kind === "folder" || (base?.children.size ?? 0) > 0;
    if (!isFolder) return;
    const below = seenReal?.kind === "folder" ? (real?.child(name) ?? null) : null;
    const belowCopy = seenCopy?.kind === "folder" ? (copy?.child(name) ?? null) : null;
    try {
      // A folder that cannot be opened is not an empty one.
      if (seenCopy?.kind === "folder" && belowCopy === null) {
        this.#unreadable++;
        return;
      }
      await this.folder(below, belowCopy, base, path);
    } finally {
      below?.close();
      belowCopy?.close();
    }
  }
}

const NO_NAMES = { names: [], unreadable: 0 } as const;

function plain(found: EntryState): FileStamp | null {
  return found === "other" ? null : found;
}
