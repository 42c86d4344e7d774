// What a command sees of its root's repository at its start. Git replaces HEAD and index by rename: an index that was
// opened then still has the entries of that moment, and is read only where they are asked for.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import { looseRefBytesMax } from "../../plan/drafts/git/ref-file.ts";
import { readGitFile } from "./git-files.ts";
import { fileEntriesDigest, type RepositorySnapshot } from "./repository.ts";

/** An index, open since the start of a command. */
interface OpenIndex {
  readonly descriptor: number;
  readonly size: bigint;
  readonly written: bigint;
}

export class StartWitness {
  readonly #folder: string;
  readonly #head: string;
  /** Null: there was none. */
  readonly #index: OpenIndex | null;

  private constructor(folder: string, head: string, index: OpenIndex | null) {
    this.#folder = folder;
    this.#head = head;
    this.#index = index;
  }

  /** Null where the root has no plain repository. */
  static open(root: string): StartWitness | null {
    const folder = join(root, ".git");
    const head = readGitFile(join(folder, "HEAD"), looseRefBytesMax, "HEAD");
    if (!head.ok || head.value === null) return null;
    try {
      return new StartWitness(folder, head.value.bytes.toString("latin1"), openIndex(join(folder, "index")));
    } catch {
      return null;
    }
  }

  read(): RepositorySnapshot {
    const bytes = this.#index === null ? null : bytesOf(this.#index);
    const folders = { folder: this.#folder, common: this.#folder };
    const isKnown = this.#index === null || bytes !== null;
    return {
      head: this.#head,
      entries: isKnown ? fileEntriesDigest(folders, bytes === null ? null : { bytes }) : null,
    };
  }

  close(): void {
    if (this.#index !== null) closeSync(this.#index.descriptor);
  }
}

/** Null where there is none. */
function openIndex(path: string): OpenIndex | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  const { size, mtimeNs } = fstatSync(descriptor, { bigint: true });
  return { descriptor, size, written: mtimeNs };
}

/** Null where it was written in place since, or is no file of a size that is read. */
function bytesOf({ descriptor, size, written }: OpenIndex): Buffer | null {
  const now = fstatSync(descriptor, { bigint: true });
  if (!now.isFile() || now.size !== size || now.mtimeNs !== written || size > BigInt(indexBytesMax)) return null;
  const bytes = Buffer.alloc(Number(size));
  for (let filled = 0; filled < bytes.length; ) {
    const count = readSync(descriptor, bytes, filled, bytes.length - filled, filled);
    if (count === 0) return null;
    filled += count;
  }
  return bytes;
}
