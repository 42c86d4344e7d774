// One folder of a tree that a hostile program may change concurrently: every name is resolved in the open folder
// itself, and no link is followed.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
} from "node:fs";

/** Enough to tell whether one name still has the same content. */
export interface FileStamp {
  readonly kind: "file" | "folder" | "link";
  readonly inode: bigint;
  readonly bytes: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
  readonly isExecutable: boolean;
}

/** The state of a name: a stamp, nothing, or something that is never copied, such as a pipe. */
export type EntryState = FileStamp | null | "other";

export interface OpenFile {
  readonly descriptor: number;
  readonly facts: BigIntStats;
}

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Without O_NONBLOCK opening a pipe would block. */
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export class TreeFolder {
  readonly #descriptor: number;
  readonly #device: bigint;

  private constructor(descriptor: number, device: bigint | null) {
    this.#descriptor = descriptor;
    this.#device = device ?? fstatSync(descriptor, { bigint: true }).dev;
  }

  /** Throws as the system does; also where the last name is a link. */
  static open(path: string): TreeFolder {
    return new TreeFolder(openSync(path, FOLDER_FLAGS), null);
  }

  /** The folder that an open descriptor leads to, which the caller still closes. */
  static openHeld(descriptor: number): TreeFolder {
    return new TreeFolder(openSync(`/proc/self/fd/${descriptor}`, FOLDER_FLAGS & ~constants.O_NOFOLLOW), null);
  }

  get device(): bigint {
    return this.#device;
  }

  get inode(): bigint {
    return fstatSync(this.#descriptor, { bigint: true }).ino;
  }

  /** For calls that do not follow the last name of a path. */
  pathOf(name: string): string {
    return `/proc/self/fd/${this.#descriptor}/${name}`;
  }

  /** The folder itself, for watching. */
  get path(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** Null where it is no folder, a link, gone, on another file system, or its names cannot be looked up. */
  child(name: string): TreeFolder | null {
    let descriptor: number;
    try {
      descriptor = openSync(this.pathOf(name), FOLDER_FLAGS);
    } catch {
      return null;
    }
    if (fstatSync(descriptor, { bigint: true }).dev === this.#device && isSearchable(descriptor))
      return new TreeFolder(descriptor, this.#device);
    closeSync(descriptor);
    return null;
  }

  /** Opens a folder below; null where a name on the path is no folder. The caller closes it. */
  descend(names: readonly string[]): TreeFolder | null {
    let folder: TreeFolder | null = new TreeFolder(
      openSync(this.path, FOLDER_FLAGS & ~constants.O_NOFOLLOW),
      this.#device,
    );
    for (const name of names) {
      const next: TreeFolder | null = folder.child(name);
      folder.close();
      if (next === null) return null;
      folder = next;
    }
    return folder;
  }

  /** A plain file, open for reading; null for anything else. The caller closes it. */
  openFile(name: string): OpenFile | null {
    let descriptor: number;
    try {
      descriptor = openSync(this.pathOf(name), FILE_FLAGS);
    } catch {
      return null;
    }
    const facts = fstatSync(descriptor, { bigint: true });
    if (facts.isFile()) return { descriptor, facts };
    closeSync(descriptor);
    return null;
  }

  stamp(name: string): EntryState {
    try {
      const found = lstatSync(this.pathOf(name), { bigint: true, throwIfNoEntry: false });
      return found === undefined ? null : stampOf(found, this.#device);
    } catch {
      return "other";
    }
  }

  readLink(name: string): Buffer {
    return readlinkSync(this.pathOf(name), { encoding: "buffer" });
  }

  /** Names that are UTF-8, and the number of others. */
  names(): { readonly names: readonly string[]; readonly unreadable: number } {
    const names: string[] = [];
    let unreadable = 0;
    for (const bytes of readdirSync(this.path, { encoding: "buffer" })) {
      const text = bytes.toString("utf8");
      if (Buffer.from(text, "utf8").equals(bytes)) names.push(text);
      else unreadable++;
    }
    return { names, unreadable };
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** A folder of mode 0444 can be listed, and nothing in it can be looked at. */
function isSearchable(descriptor: number): boolean {
  try {
    lstatSync(`/proc/self/fd/${descriptor}/.`);
    return true;
  } catch {
    return false;
  }
}

export function stampOf(found: BigIntStats, device: bigint): FileStamp | "other" {
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : null;
  if (kind === null || found.dev !== device) return "other";
  return {
    kind,
    inode: found.ino,
    bytes: found.size,
    modified: found.mtimeNs,
    changed: found.ctimeNs,
    isExecutable: (found.mode & 0o100n) !== 0n,
  };
}

/** The same content for certain. The content of a folder is compared separately. */
export function isSameStamp(left: EntryState, right: EntryState): boolean {
  if (left === null || right === null || left === "other" || right === "other") return left === right;
  if (left.kind !== right.kind) return false;
  if (left.kind === "folder") return true;
  return (
    left.inode === right.inode &&
    left.bytes === right.bytes &&
    left.modified === right.modified &&
    left.changed === right.changed
  );
}
