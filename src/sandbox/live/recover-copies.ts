// After a crash: a program's changes in the copy of a live root become a draft that waits for a person. Nothing lands.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DraftFolders } from "../drafts/draft-folders.ts";
import type { DraftRecords } from "../drafts/draft-records.ts";
import { readLinkedSeed } from "../drafts/git/linked-seed.ts";
import { removeTree } from "../drafts/remove-tree.ts";
import { readBaseLog, stampText } from "./base-tree.ts";
import { isUnchangedGit } from "./linked/linked-unit.ts";
import { GIT } from "./linked/private-git.ts";
import { BASE_FILE, COPY_FOLDER } from "./live-root.ts";
import { type StagedChange, stage } from "./staging.ts";
import { TreeFolder } from "./tree-folder.ts";

export interface RecoveryParts {
  readonly folders: DraftFolders;
  readonly records: DraftRecords;
  /** Path of the native program. */
  readonly program: string;
  note(line: string): void;
}

const depthMax = 220;
const namesMax = 400_000;

/** Before interrupted drafts are recovered: turns each leftover copy into the upper folder of its draft. */
export async function recoverCopies(parts: RecoveryParts): Promise<void> {
  for (const id of parts.folders.list()) {
    if (!existsSync(join(parts.folders.path(id), COPY_FOLDER))) continue;
    if (parts.records.read(id)?.state !== "running" && !parts.records.isUnused(id)) continue;
    await recoverCopy(id, parts).catch((error: unknown) =>
      parts.note(`draft ${id}: its copy stays in ${parts.folders.path(id)}: ${String(error)}`),
    );
  }
}

async function recoverCopy(id: string, { folders, records, program, note }: RecoveryParts): Promise<void> {
  const folder = folders.path(id);
  const record = records.read(id);
  // Without a record nothing ran in it.
  if (record === null) return folders.remove(id);
  const copy = TreeFolder.open(join(folder, COPY_FOLDER));
  try {
    const base = readBaseLog(existsSync(join(folder, BASE_FILE)) ? readFileSync(join(folder, BASE_FILE), "utf8") : "");
    const walk = new CopyWalk(base);
    walk.folder(copy, []);
    if (walk.unreadable > 0 || !walk.isComplete) {
      note(`draft ${id}: some changes of its program cannot be stored as a draft; the copy stays in ${folder}`);
      records.write({ ...record, state: "running" });
      return;
    }
    // An interrupted recovery starts again.
    if (readdirSync(folders.upper(id)).length > 0) throw new Error("an earlier recovery was interrupted");
    const seed = readLinkedSeed(folder);
    const isOwnGit = ({ path }: StagedChange): boolean => path[0] === GIT;
    const changes =
      seed !== null && isUnchangedGit(copy, seed)
        ? walk.changes().filter((change) => !isOwnGit(change))
        : walk.changes();
    const staged = await stage(changes, { copy, upper: folders.upper(id), program });
    if (staged.length < changes.length) throw new Error("its files are still changing");
    // The files are new and no program has seen them: the draft is sealed.
    records.write({ ...record, isSealed: true });
  } finally {
    copy.close();
  }
  if (folders.isEmpty(id)) {
    await folders.remove(id);
    records.forget(id);
  } else await removeTree(join(folder, COPY_FOLDER));
}

class CopyWalk {
  readonly #base: ReadonlyMap<string, string>;
  readonly #seen = new Set<string>();
  readonly #changed: StagedChange[] = [];
  unreadable = 0;
  isComplete = true;

  constructor(base: ReadonlyMap<string, string>) {
    this.#base = base;
  }

  folder(folder: TreeFolder, path: readonly string[]): void {
    const { names, unreadable } = folder.names();
    this.unreadable += unreadable;
    for (const name of names) {
      if (this.#seen.size > namesMax || path.length > depthMax) {
        this.isComplete = false;
        return;
      }
      const below = [...path, name];
      const found = folder.stamp(name);
      if (found === null) continue;
      this.#seen.add(below.join("/"));
      if (found === "other") continue;
      if (this.#base.get(below.join("/")) !== stampText(found)) this.#changed.push({ path: below, copy: found });
      const child = found.kind === "folder" ? folder.child(name) : null;
      if (found.kind === "folder" && child === null) this.unreadable++;
      if (child === null) continue;
      this.folder(child, below);
      child.close();
    }
  }

  /** Of a deleted folder, only the folder is named. */
  changes(): readonly StagedChange[] {
    const gone = [...this.#base.keys()].filter((key) => !this.#seen.has(key)).map((key) => key.split("/"));
    const keys = new Set(gone.map((path) => path.join("/")));
    const tops = gone.filter((path) => !path.some((_, at) => at > 0 && keys.has(path.slice(0, at).join("/"))));
    return [...this.#changed, ...tops.map((path) => ({ path, copy: null }))];
  }
}
