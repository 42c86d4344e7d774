// Reads the git folder of a linked worktree or submodule, which lies outside the root: what the person has now.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { kindAt, readGitFile } from "../../drafts/git/git-files.ts";
import { allRefs } from "../../drafts/git/linked-seed.ts";
import { type GitFolders, indexDigest, readMarks } from "../../drafts/git/repository.ts";
import { IN_PROGRESS_NAMES } from "../../plan/drafts/git/folder-names.ts";
import { indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import type { ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import { looseRefBytesMax } from "../../plan/drafts/git/ref-file.ts";
import { stashLogBytesMax } from "../../plan/drafts/git/stash-log.ts";
import type { GitState } from "./git-state.ts";
import { isRef } from "./private-git.ts";

const refFoldersMax = 1_000;

export class PersonGit {
  readonly #folders: GitFolders;
  readonly #format: ObjectFormat;
  /** The index that was read last, by its mark. */
  #index: { readonly mark: string; readonly digest: string } = { mark: "", digest: "" };

  constructor(folders: GitFolders, format: ObjectFormat) {
    this.#folders = folders;
    this.#format = format;
  }

  /** Null where it cannot be read, or a git works in it at this moment. */
  read(): GitState | null {
    const { folder, common } = this.#folders;
    try {
      if (this.isLocked) return null;
      const marks = readMarks(this.#folders);
      const head = readGitFile(join(folder, "HEAD"), looseRefBytesMax, "HEAD");
      const refs = allRefs(common, this.#format);
      const log = readGitFile(join(common, "logs/refs/stash"), stashLogBytesMax, "logs/refs/stash");
      const index = this.#indexDigest(marks.index);
      if (!head.ok || head.value === null || !refs.ok || !log.ok || index === null) return null;
      const now = readMarks(this.#folders);
      if (now.head !== marks.head || now.index !== marks.index) return null;
      return {
        head: head.value.bytes.toString("latin1"),
        refs: new Map(
          refs.value
            .filter(([name]) => isRef(name))
            .map(([name, ref]) => [name, ref.kind === "id" ? ref.id : `ref: ${ref.target}`]),
        ),
        stashLog: log.value?.bytes.toString("latin1") ?? "",
        index,
      };
    } catch {
      return null;
    }
  }

  get stashLog(): string | null {
    const log = readGitFile(join(this.#folders.common, "logs/refs/stash"), stashLogBytesMax, "logs/refs/stash");
    return log.ok ? (log.value?.bytes.toString("latin1") ?? "") : null;
  }

  /** The index with these entries; undefined where it has others by now, null where there is none. */
  indexWith(digest: string): Buffer | null | undefined {
    const file = readGitFile(join(this.#folders.folder, "index"), indexBytesMax, "index");
    if (!file.ok || indexDigest(file.value, this.#format) !== digest) return undefined;
    return file.value?.bytes ?? null;
  }

  /** A git works in this worktree at this moment. */
  get isLocked(): boolean {
    return ["index.lock", "HEAD.lock"].some((name) => kindAt(join(this.#folders.folder, name)) !== null);
  }

  /** A rebase or a merge, for example. */
  get isInProgress(): boolean {
    return IN_PROGRESS_NAMES.some((name) => kindAt(join(this.#folders.folder, name)) !== null);
  }

  /** Absolute: folders in which every change that is carried in shows. */
  watched(): readonly string[] {
    const { folder, common } = this.#folders;
    const found = [folder, ...(folder === common ? [] : [common])];
    const waiting = [join(common, "refs")];
    try {
      for (let at = waiting.pop(); at !== undefined && found.length < refFoldersMax; at = waiting.pop()) {
        found.push(at);
        for (const entry of readdirSync(at, { withFileTypes: true }))
          if (entry.isDirectory()) waiting.push(join(at, entry.name));
      }
    } catch {
      // A folder that git just removed.
    }
    return found;
  }

  /** Null where it cannot be parsed: a split index, for example. */
  #indexDigest(mark: string): string | null {
    if (this.#index.mark === mark) return this.#index.digest;
    const file = readGitFile(join(this.#folders.folder, "index"), indexBytesMax, "index");
    const digest = file.ok ? indexDigest(file.value, this.#format) : null;
    if (digest !== null) this.#index = { mark, digest };
    return digest;
  }
}

/** Object files of the person's repository, looked up by id. */
export function hasLooseObject(common: string, folder: string, file: string): boolean {
  return lstatSync(join(common, "objects", folder, file), { throwIfNoEntry: false })?.isFile() === true;
}
