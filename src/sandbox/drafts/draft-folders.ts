// The folders of drafts in the state folder: `drafts/<id>` with `upper`, which receives a program's changes, and
// `work`, which belongs to the kernel.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDraftId, RECORD_FILE } from "./draft-records.ts";
import { removeTree } from "./remove-tree.ts";

export interface DraftFolder {
  readonly id: string;
  /** Absolute; contains `upper` and `work`. */
  readonly path: string;
}

const randomBytesPerId = 8;
/** Before the id of a draft that was discarded: no id begins so. */
const GONE = "gone-";

export class DraftFolders {
  /** Absolute: the folder of all drafts. */
  readonly folder: string;
  /** Removals that run now. */
  readonly #removals = new Set<Promise<void>>();

  constructor(state: string) {
    this.folder = join(state, "drafts");
  }

  /** Throws as the system does. */
  make(): DraftFolder {
    if (mkdirSync(this.folder, { recursive: true, mode: 0o700 }) !== undefined) spread(this.folder);
    const id = `d-${Date.now().toString(36)}-${randomBytes(randomBytesPerId).toString("hex")}`;
    const path = this.path(id);
    for (const one of [path, join(path, "upper"), join(path, "work")]) mkdirSync(one, { mode: 0o700 });
    return { id, path };
  }

  /** INVARIANT: never a path outside the folder of drafts. Throws for an invalid id. */
  path(id: string): string {
    if (!isDraftId(id)) throw new Error(`not the id of a draft: ${JSON.stringify(id.slice(0, 80))}`);
    return join(this.folder, id);
  }

  upper(id: string): string {
    return join(this.path(id), "upper");
  }

  /** Oldest first: their ids begin with the time. */
  list(): readonly string[] {
    return this.#names().filter(isDraftId).sort();
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.folder);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }

  /** Whether nothing was changed in it. A folder that cannot be listed is not empty. */
  isEmpty(id: string): boolean {
    try {
      return readdirSync(this.upper(id)).length === 0;
    } catch (error) {
      // Interrupted while it was created: nothing can have run in it.
      return error instanceof Error && "code" in error && error.code === "ENOENT";
    }
  }

  /**
   * Removes the kernel's `work` folder of a sealed draft. It has mode 000, and would keep people from removing their
   * state folder. If it cannot be removed, it does no harm.
   */
  dropWork(id: string): void {
    const work = join(this.path(id), "work");
    try {
      openKernelFolders(work);
      rmSync(work, { recursive: true, force: true });
    } catch {
      // Removing the whole draft handles it.
    }
  }

  /** Removes a draft with everything a program left in it. Rejects where something remains. */
  async remove(id: string): Promise<void> {
    const path = this.path(id);
    if (this.isEmpty(id) && removeEmpty(path)) return;
    await removeTree(path);
  }

  /**
   * Like `remove`, without waiting for its files: from now on there is no such draft, also after a crash. Throws as the system
   * does.
   */
  discard(id: string): void {
    const gone = join(this.folder, `${GONE}${id}`);
    renameSync(this.path(id), gone);
    this.#clear(gone);
  }

  /** After a crash: what was discarded and is still there. */
  clearDiscarded(): void {
    for (const name of this.#names()) if (name.startsWith(GONE)) this.#clear(join(this.folder, name));
  }

  /** Resolves when nothing is being removed. */
  async settled(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals);
  }

  /** What is left after a failure is tried again at the next start. */
  #clear(path: string): void {
    const removal = removeTree(path)
      .catch(() => undefined)
      .then(() => void this.#removals.delete(removal));
    this.#removals.add(removal);
  }
}

/**
 * ext4 is told that the folders in it have nothing to do with each other, and gives each another place of the disk. Otherwise
 * a copy is made among the inodes of the copy that was removed last, which ext4 does not use again for minutes, and looks at
 * one by one for each new file (decision 0153). On other file systems, and without `chattr`, nothing happens.
 */
function spread(folder: string): void {
  spawn("/usr/bin/chattr", ["+T", folder], { stdio: "ignore", env: {} })
    .on("error", () => undefined)
    .unref();
}

/** Folders the kernel leaves in `work` of a volatile overlay, parents first; they have mode 000. */
const KERNEL_FOLDERS = ["work", "work/incompat", "work/incompat/volatile"] as const;

/** Only root can list them, not their owner. Returns the existing ones, parents first. */
export function openKernelFolders(work: string): readonly string[] {
  const opened: string[] = [];
  for (const folder of KERNEL_FOLDERS.map((name) => join(work, name))) {
    if (!existsSync(folder)) break;
    chmodSync(folder, 0o700);
    opened.push(folder);
  }
  return opened;
}

/** Removes an empty draft synchronously. */
function removeEmpty(path: string): boolean {
  try {
    const work = join(path, "work");
    for (const one of openKernelFolders(work).toReversed()) rmdirSync(one);
    rmSync(join(path, RECORD_FILE), { force: true });
    for (const one of [work, join(path, "upper")]) if (existsSync(one)) rmdirSync(one);
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}
