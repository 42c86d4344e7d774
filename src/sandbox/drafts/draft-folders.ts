// The folders of drafts in the state folder: `drafts/<id>` with `upper`, which takes what a program changes, and `work`,
// which belongs to the kernel.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDraftId, RECORD_FILE } from "./draft-records.ts";
import { removeTree } from "./remove-tree.ts";

export interface DraftFolder {
  readonly id: string;
  /** Absolute; holds `upper` and `work`. */
  readonly path: string;
}

const randomBytesPerId = 8;

export class DraftFolders {
  /** Absolute: where all of them lie. */
  readonly folder: string;

  constructor(state: string) {
    this.folder = join(state, "drafts");
  }

  /** Throws as the system does. */
  make(): DraftFolder {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const id = `d-${Date.now().toString(36)}-${randomBytes(randomBytesPerId).toString("hex")}`;
    const path = this.path(id);
    for (const one of [path, join(path, "upper"), join(path, "work")]) mkdirSync(one, { mode: 0o700 });
    return { id, path };
  }

  /** INVARIANT: never a path outside the folder of drafts. Throws for what is no id of ours. */
  path(id: string): string {
    if (!isDraftId(id)) throw new Error(`not the id of a draft: ${JSON.stringify(id.slice(0, 80))}`);
    return join(this.folder, id);
  }

  upper(id: string): string {
    return join(this.path(id), "upper");
  }

  /** Oldest first: their ids begin with the time. */
  list(): readonly string[] {
    try {
      return readdirSync(this.folder).filter(isDraftId).sort();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }

  /** Whether nothing was changed in it. What cannot be listed is not empty. */
  isEmpty(id: string): boolean {
    try {
      return readdirSync(this.upper(id)).length === 0;
    } catch (error) {
      // Ended while it was being made: nothing can have run in it.
      return error instanceof Error && "code" in error && error.code === "ENOENT";
    }
  }

  /**
   * Of a draft that is sealed: the kernel's own folder, which it needs no more. It has mode 000, and would keep people from
   * removing their state folder. What cannot be removed stays, and harms nothing.
   */
  dropWork(id: string): void {
    const work = join(this.path(id), "work");
    try {
      openKernelFolders(work);
      rmSync(work, { recursive: true, force: true });
    } catch {
      // The whole draft is removed with more care.
    }
  }

  /** All of it, whatever a program left in there. Rejects where something stays. */
  async remove(id: string): Promise<void> {
    const path = this.path(id);
    if (this.isEmpty(id) && removeEmpty(path)) return;
    await removeTree(path);
  }
}

/** What the kernel leaves in `work` of an overlay that flushes nothing, parents first; they have mode 000. */
const KERNEL_FOLDERS = ["work", "work/incompat", "work/incompat/volatile"] as const;

/** For their owner, who could not even list them: root can. The ones that are there, parents first. */
export function openKernelFolders(work: string): readonly string[] {
  const opened: string[] = [];
  for (const folder of KERNEL_FOLDERS.map((name) => join(work, name))) {
    if (!existsSync(folder)) break;
    chmodSync(folder, 0o700);
    opened.push(folder);
  }
  return opened;
}

/** A draft that took nothing, at once. */
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
