// Whether project and copy have the same content at one name.
import { closeSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Comparison, SideChange } from "./compare-sides.ts";
import type { OpenFile, TreeFolder } from "./tree-folder.ts";

const chunkBytes = 262_144;

export async function isEqualContent(
  { path, real, copy }: SideChange,
  realRoot: TreeFolder,
  copyRoot: TreeFolder,
): Promise<boolean> {
  if (real === null || copy === null) return real === copy;
  if (real.kind !== copy.kind) return false;
  if (real.kind === "folder") return true;
  const name = path.at(-1) ?? "";
  const left = realRoot.descend(path.slice(0, -1));
  const right = copyRoot.descend(path.slice(0, -1));
  try {
    if (left === null || right === null) return false;
    if (real.kind === "link") return left.readLink(name).equals(right.readLink(name));
    if (real.bytes !== copy.bytes || real.isExecutable !== copy.isExecutable) return false;
    return await areEqualFiles(left.openFile(name), right.openFile(name));
  } catch {
    return false;
  } finally {
    left?.close();
    right?.close();
  }
}

/** Changes of the program that the project does not have. */
export async function changesLeft(
  { changes }: Comparison,
  realRoot: TreeFolder,
  copyRoot: TreeFolder,
): Promise<readonly SideChange[]> {
  const left: SideChange[] = [];
  for (const change of changes)
    if (change.isCopyChanged && !(await isEqualContent(change, realRoot, copyRoot))) left.push(change);
  return left;
}

async function areEqualFiles(left: OpenFile | null, right: OpenFile | null): Promise<boolean> {
  try {
    if (left === null || right === null) return false;
    const [one, other] = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)];
    for (;;) {
      const count = readSync(left.descriptor, one, 0, chunkBytes, null);
      if (count !== readSync(right.descriptor, other, 0, chunkBytes, null)) return false;
      if (count === 0) return true;
      if (!one.subarray(0, count).equals(other.subarray(0, count))) return false;
      await setImmediate();
    }
  } finally {
    if (left !== null) closeSync(left.descriptor);
    if (right !== null) closeSync(right.descriptor);
  }
}
