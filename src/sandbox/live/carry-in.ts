// Applies a person's change of the project to the copy. Only names of the copy are touched, each resolved in its open
// folder, so that a link a program planted leads nowhere.
import { mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { BaseTree } from "./base-tree.ts";
import type { SideChange } from "./compare-sides.ts";
import { copyWithTimes } from "./make-copy.ts";
import { type FileStamp, isSameStamp, type TreeFolder } from "./tree-folder.ts";

export interface CarryInParts {
  readonly real: TreeFolder;
  readonly copy: TreeFolder;
  readonly base: BaseTree;
  /** Absolute: a folder of our state on the file system of the copy, hidden from every program. */
  readonly incoming: string;
}

let count = 0;

/** False where it failed: the next comparison tries again. */
export async function carryIn({ path, real, copy }: SideChange, parts: CarryInParts): Promise<boolean> {
  const name = path.at(-1) ?? "";
  const [from, into] = [parts.real.descend(path.slice(0, -1)), parts.copy.descend(path.slice(0, -1))];
  try {
    if (into === null) {
      if (real === null) parts.base.settle(path, null, null);
      return real === null;
    }
    if (real === null) return remove(into, name, copy, () => parts.base.settle(path, null, null));
    if (from === null) return false;
    if (real.kind === "folder") {
      if (copy !== null && copy.kind !== "folder") return false;
      if (copy === null) mkdirSync(into.pathOf(name), { mode: 0o755 });
      parts.base.settle(path, real, stampIn(into, name));
      return true;
    }
    if (copy?.kind === "folder") return false;
    return await replace(from, into, name, { real, copy }, parts, path);
  } finally {
    from?.close();
    into?.close();
  }
}

function remove(into: TreeFolder, name: string, copy: FileStamp | null, settle: () => void): boolean {
  try {
    if (copy?.kind === "folder") rmdirSync(into.pathOf(name));
    else if (copy !== null) unlinkSync(into.pathOf(name));
  } catch {
    // A folder with the program's own files remains.
    return false;
  }
  settle();
  return true;
}

async function replace(
  from: TreeFolder,
  into: TreeFolder,
  name: string,
  { real, copy }: { readonly real: FileStamp; readonly copy: FileStamp | null },
  { incoming, base }: CarryInParts,
  path: readonly string[],
): Promise<boolean> {
  const fresh = join(incoming, `new-${++count}`);
  try {
    if (real.kind === "link") symlinkSync(from.readLink(name), fresh);
    else if (!isSameStamp((await copyWithTimes(from, name, fresh))?.seen ?? null, real)) return false;
    // The program may have written it since the comparison: then it is no longer the person's change alone.
    if (!isSameStamp(into.stamp(name), copy)) return false;
    renameSync(fresh, into.pathOf(name));
    base.settle(path, real, stampIn(into, name));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(fresh, { force: true });
  }
}

function stampIn(folder: TreeFolder, name: string): FileStamp | null {
  const found = folder.stamp(name);
  return found === "other" ? null : found;
}
