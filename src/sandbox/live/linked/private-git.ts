// The private git folder in the copy of a live root, which its program may write at any moment: every name is resolved in its
// open folder, no link is followed, and what is written goes through git's own lock files.
import { mkdirSync } from "node:fs";
import { fileDigest, isShared } from "../../drafts/git/linked-seed.ts";
import { indexDigest } from "../../drafts/git/repository.ts";
import { gitName, IN_PROGRESS_NAMES } from "../../plan/drafts/git/folder-names.ts";
import { indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import type { ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import { looseRefBytesMax, packedRefsBytesMax, parsePackedRefs, parseRefFile } from "../../plan/drafts/git/ref-file.ts";
import { STASH } from "../../plan/drafts/git/ref-name.ts";
import { stashLogBytesMax } from "../../plan/drafts/git/stash-log.ts";
import { stampText } from "../base-tree.ts";
import type { FolderPair } from "../compare-sides.ts";
import type { FileStamp, TreeFolder } from "../tree-folder.ts";
import { type CheckoutChange, type GitState, targetOf } from "./git-state.ts";
import { PrivateLock, readBytes, readText, unlinkQuietly } from "./private-files.ts";

/** Below the root of the copy. */
export const GIT = ".git";
export const STASH_LOG = "logs/refs/stash";
/** Where the program finds the person's value of a ref that both have moved: for a merge or a rebase. */
const OURS = "refs/ambit/";
const OUTSIDE: string = `${OURS}outside/`;

export interface GitListing {
  /** By path below the git folder, without object files. */
  readonly files: ReadonlyMap<string, FileStamp>;
  /** For the watch. */
  readonly folders: readonly FolderPair[];
  /** A git works in it at this moment. */
  readonly isLocked: boolean;
  /** A rebase or a merge, for example. */
  readonly isInProgress: boolean;
}

/** An object file of the private folder: below `objects`, two names. */
export interface PrivateObject {
  readonly folder: string;
  readonly file: string;
  readonly stamp: FileStamp;
}

const namesMax = 60_000;
const depthMax = 40;
const fileBytesMax = 4 * 1_048_576;

export class PrivateGit {
  readonly #copy: TreeFolder;
  readonly #format: ObjectFormat;
  /** Values of files, by path, as long as their stamps stay. */
  readonly #values = new Map<string, { readonly stamp: string; readonly value: string }>();
  /** Those that were parsed last. */
  #packed: { readonly text: string; readonly refs: ReturnType<typeof parsePackedRefs> } | null = null;

  /** `copy`: the copy of the project. */
  constructor(copy: TreeFolder, format: ObjectFormat) {
    this.#copy = copy;
    this.#format = format;
  }

  /**
   * Null where the program removed or replaced the folder, made too many names in it, or closed a folder in it: refs that cannot
   * be listed are not deleted ones.
   */
  list(): GitListing | null {
    const top = this.#copy.descend([GIT]);
    if (top === null) return null;
    const walk = new Walk();
    try {
      walk.folder(top, []);
    } finally {
      top.close();
    }
    const { files, folders } = walk;
    if (!walk.isComplete) return null;
    return {
      ...{ files, folders },
      isLocked: [...files.keys()].some((name) => name.endsWith(".lock")),
      isInProgress: [...files.keys()].some((name) => IN_PROGRESS_NAMES.includes(name.split("/")[0] ?? "")),
    };
  }

  /** Whether there is a folder at all, also one that cannot be opened. */
  get isThere(): boolean {
    const found = this.#copy.stamp(GIT);
    return found !== null && found !== "other" && found.kind === "folder";
  }

  /** A value that cannot be parsed is a change like any other: the import says what is wrong with it. */
  state({ files }: GitListing): GitState {
    const refs = new Map<string, string>();
    const packed = this.#packedRefs(files);
    if (packed.ok) for (const [name, id] of packed.value) if (isRef(name)) refs.set(name, id);
    if (!packed.ok) refs.set("packed-refs", packed.refusal.message);
    for (const name of files.keys()) if (isRef(name)) refs.set(name, this.#ref(files, name));
    return {
      head: this.#text(files, "HEAD", looseRefBytesMax),
      refs,
      stashLog: this.#text(files, STASH_LOG, stashLogBytesMax),
      index: this.#value(files, "index", indexBytesMax, (bytes) => indexDigest({ bytes }, this.#format)) || "absent",
    };
  }

  /** Of one file, as a seed has it. */
  digest({ files }: GitListing, name: string): string {
    return this.#value(files, name, fileBytesMax, fileDigest);
  }

  /** Object files, without those of git's caches. Half of a pack is left out. */
  objects(): readonly PrivateObject[] {
    const top = this.#copy.descend([GIT, "objects"]);
    if (top === null) return [];
    const found: PrivateObject[] = [];
    try {
      for (const folder of top.names().names) {
        const below = top.child(folder);
        if (below === null) continue;
        for (const file of below.names().names) {
          const { kind } = gitName(["objects", folder, file]);
          const stamp = kind === "loose-object" || kind === "pack" ? below.stamp(file) : null;
          if (stamp !== null && stamp !== "other" && stamp.kind === "file") found.push({ folder, file, stamp });
        }
        below.close();
      }
    } finally {
      top.close();
    }
    const names = new Set(found.map(({ file }) => file));
    return found.filter(({ folder, file }) => folder !== "pack" || names.has(otherHalf(file)));
  }

  /** False where the program has changed the ref since, or holds its lock: the next step tries again. */
  writeRef(name: string, ref: string | null, seen: GitState): boolean {
    return this.#replace(name, ref, () => this.#current(name) === seen.refs.get(name));
  }

  /** One ref as of now. A person's fetch moves thousands: the other names are not looked at. */
  #current(name: string): string | undefined {
    const files = new Map<string, FileStamp>();
    for (const one of [name, "packed-refs"]) {
      const names = one.split("/");
      const folder = this.#copy.descend([GIT, ...names.slice(0, -1)]);
      const found = folder?.stamp(names.at(-1) ?? "") ?? null;
      folder?.close();
      if (found !== null && found !== "other" && found.kind !== "folder") files.set(one, found);
    }
    if (files.has(name)) return this.#ref(files, name);
    const packed = this.#packedRefs(files);
    return packed.ok ? packed.value.get(name) : undefined;
  }

  /** `isSeen`: asked under the lock. */
  #replace(name: string, ref: string | null, isSeen: () => boolean = () => true): boolean {
    const names = [GIT, ...name.split("/")];
    const folder = this.#folderOf(names, ref !== null);
    // Neither the ref nor its folder exists.
    if (folder === null) return ref === null && this.#forget(name, null);
    const lock = new PrivateLock(folder, names.at(-1) ?? "");
    try {
      if (!lock.take(ref === null ? "" : `${ref}\n`)) return false;
      if (!isSeen()) return false;
      if (ref === null) return this.#forget(name, folder);
      lock.commit();
      return true;
    } catch {
      return false;
    } finally {
      lock.release();
      folder.close();
    }
  }

  /** Shows the program what the person has: by name of the ref. A value that no longer differs is removed. */
  showOutside({ files }: GitListing, values: ReadonlyMap<string, string>): void {
    const wanted = new Map([...values].map(([name, ref]) => [name.replace(/^refs\//, OUTSIDE), ref]));
    for (const name of files.keys())
      if (name.startsWith(OUTSIDE) && !name.endsWith(".lock") && !wanted.has(name)) this.#replace(name, null);
    for (const [name, ref] of wanted) if (this.#ref(files, name) !== ref) this.#replace(name, ref);
  }

  /** The list of stashes: the log, and the ref that names the newest one. */
  writeStash({ refs, stashLog }: GitState, seen: GitState): boolean {
    if (!this.writeRef(STASH, refs.get(STASH) ?? null, seen)) return false;
    if (!refs.has(STASH)) return true;
    const folder = this.#folderOf([GIT, ...STASH_LOG.split("/")], true);
    if (folder === null) return false;
    const lock = new PrivateLock(folder, "stash");
    try {
      if (!lock.take(Buffer.from(stashLog, "latin1"))) return false;
      lock.commit();
      return true;
    } catch {
      return false;
    } finally {
      lock.release();
      folder.close();
    }
  }

  /**
   * HEAD, its branch and the index of the person's, all of them or none: every lock is held, and everything compared, before the
   * first is written. `index`: null where there is none.
   */
  writeCheckout(change: CheckoutChange, person: GitState, index: Uint8Array | null, seen: GitState): boolean {
    const ref = change.branch === null ? undefined : person.refs.get(change.branch);
    // A branch without a commit: its ref is deleted by itself, and the rest in the next step.
    if (change.branch !== null && ref === undefined) return this.writeRef(change.branch, null, seen);
    const wanted: (readonly [name: string, content: string | Uint8Array])[] = [
      ...(change.index && index !== null ? [["index", index] as const] : []),
      ...(change.head ? [["HEAD", person.head] as const] : []),
      ...(change.branch === null ? [] : [[change.branch, `${ref}\n`] as const]),
    ];
    const locks: PrivateLock[] = [];
    const folders: TreeFolder[] = [];
    try {
      for (const [name, content] of wanted) {
        const names = [GIT, ...name.split("/")];
        const folder = this.#folderOf(names, true);
        if (folder === null) return false;
        folders.push(folder);
        const lock = new PrivateLock(folder, names.at(-1) ?? "");
        locks.push(lock);
        if (!lock.take(content)) return false;
      }
      const now = this.list();
      if (now === null || now.isInProgress) return false;
      const state = this.state(now);
      const branch = targetOf(seen.head);
      const isSame =
        state.head === seen.head &&
        state.index === seen.index &&
        (branch === null || state.refs.get(branch) === seen.refs.get(branch));
      if (!isSame) return false;
      for (const lock of locks.reverse()) lock.commit();
      return true;
    } catch {
      return false;
    } finally {
      for (const lock of locks) lock.release();
      for (const folder of folders) folder.close();
    }
  }

  /** Deletes a ref under its lock: first from `packed-refs`, as git does. */
  #forget(name: string, folder: TreeFolder | null): boolean {
    const top = this.#copy.descend([GIT]);
    if (top === null) return false;
    const lock = new PrivateLock(top, "packed-refs");
    try {
      const text = readText(top, "packed-refs", packedRefsBytesMax);
      const kept = withoutRef(text, name);
      if (kept !== text) {
        if (!lock.take(Buffer.from(kept, "latin1")) || readText(top, "packed-refs", packedRefsBytesMax) !== text)
          return false;
        lock.commit();
      }
    } finally {
      lock.release();
      top.close();
    }
    const last = name.split("/").at(-1) ?? "";
    if (folder !== null) unlinkQuietly(folder, last);
    // Otherwise a branch below this name could have no log.
    const logs = this.#copy.descend([GIT, "logs", ...name.split("/").slice(0, -1)]);
    if (logs !== null) unlinkQuietly(logs, last);
    logs?.close();
    return true;
  }

  /** The open folder of a name; null where it does not exist or cannot be made. */
  #folderOf(names: readonly string[], isMade: boolean): TreeFolder | null {
    let folder = this.#copy.descend(names.slice(0, 1));
    for (const name of names.slice(1, -1)) {
      if (folder === null) return null;
      let next = folder.child(name);
      if (next === null && isMade) {
        try {
          mkdirSync(folder.pathOf(name), { mode: 0o755 });
        } catch {
          // Another kind of file has this name.
        }
        next = folder.child(name);
      }
      folder.close();
      folder = next;
    }
    return folder;
  }

  #ref(files: GitListing["files"], name: string): string {
    return this.#value(files, name, looseRefBytesMax, (bytes) => {
      const ref = parseRefFile(bytes.toString("latin1"), this.#format, name);
      return ref.ok ? (ref.value.kind === "id" ? ref.value.id : `ref: ${ref.value.target}`) : null;
    });
  }

  #packedRefs(files: GitListing["files"]): ReturnType<typeof parsePackedRefs> {
    const text = this.#text(files, "packed-refs", packedRefsBytesMax);
    if (this.#packed?.text !== text) this.#packed = { text, refs: parsePackedRefs(text, this.#format) };
    return this.#packed.refs;
  }

  #text(files: GitListing["files"], name: string, bytesMax: number): string {
    return this.#value(files, name, bytesMax, (bytes) => bytes.toString("latin1"));
  }

  /** Empty where there is no such file; a text with its stamp where it has no value. */
  #value(files: GitListing["files"], name: string, bytesMax: number, read: (bytes: Buffer) => string | null): string {
    const found = files.get(name);
    if (found === undefined) return "";
    const stamp = stampText(found);
    const known = this.#values.get(name);
    if (known?.stamp === stamp) return known.value;
    const names = name.split("/");
    const folder = this.#copy.descend([GIT, ...names.slice(0, -1)]);
    try {
      const bytes = folder === null ? null : readBytes(folder, names.at(-1) ?? "", bytesMax);
      const value = (bytes === null ? null : read(bytes)) ?? `unreadable ${stamp}`;
      this.#values.set(name, { stamp, value });
      return value;
    } finally {
      folder?.close();
    }
  }
}

/** A ref that all worktrees share, and not one of ours. */
export function isRef(name: string): boolean {
  return name.startsWith("refs/") && !name.endsWith(".lock") && isShared(name) && !name.startsWith(OURS);
}

class Walk {
  readonly files = new Map<string, FileStamp>();
  readonly folders: FolderPair[] = [];
  isComplete = true;
  #names = 0;

  folder(folder: TreeFolder, path: readonly string[]): void {
    if (path.length === 0 || path[0] === "refs")
      this.folders.push({ path: [GIT, ...path], real: null, copy: folder.inode });
    const { names, unreadable } = folder.names();
    if (unreadable > 0 || path.length > depthMax) this.isComplete = false;
    for (const name of names) {
      if (++this.#names > namesMax) this.isComplete = false;
      if (!this.isComplete) return;
      const found = folder.stamp(name);
      if (found === null || found === "other") continue;
      if (found.kind !== "folder") this.files.set([...path, name].join("/"), found);
      // Of objects, only where they are borrowed from.
      else if (path.length !== 1 || path[0] !== "objects" || name === "info") {
        const child = folder.child(name);
        if (child === null) this.isComplete = false;
        else this.folder(child, [...path, name]);
        child?.close();
      }
    }
  }
}

function otherHalf(file: string): string {
  return file.endsWith(".idx") ? file.replace(/idx$/, "pack") : file.replace(/pack$/, "idx");
}

/** With the peeled id on the line after it. */
function withoutRef(packed: string, name: string): string {
  const lines = packed.split("\n");
  const at = lines.findIndex((line) => line.endsWith(` ${name}`) && !line.startsWith("#"));
  if (at < 0) return packed;
  lines.splice(at, lines[at + 1]?.startsWith("^") === true ? 2 : 1);
  return lines.join("\n");
}
