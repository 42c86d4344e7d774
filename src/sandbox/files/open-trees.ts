// The trees of a worker, and the position of a path in them. A tree is what its name led to when it was first resolved,
// identified by device and inode from then on.
import { type BigIntStats, statSync } from "node:fs";
import type { FilePath } from "../../core/ports/files.ts";
import { realRoot } from "../../platform/real-path.ts";

/** A folder with everything below it, or one file. */
export interface FileTree {
  readonly path: FilePath;
  readonly mode: "read" | "write";
}

export interface OpenTree {
  readonly tree: number;
  /** The name that authority uses. */
  readonly named: FilePath;
  /** The path with links followed. */
  readonly real: FilePath;
  /** The folder that is opened, and the path from there: empty for a folder, names for a file or a missing path. */
  readonly base: FilePath;
  readonly inside: FilePath;
  readonly writable: boolean;
  /** Of the opened folder. */
  readonly device: bigint;
  readonly inode: bigint;
}

export interface TreePosition {
  readonly tree: OpenTree;
  /** After the tree's own path. */
  readonly rest: FilePath;
}

/** A tree whose name leads nowhere is left out: its content could not be identified. */
export function locateTrees(trees: readonly FileTree[]): readonly OpenTree[] {
  const open: OpenTree[] = [];
  for (const { path, mode } of trees) {
    const seen = identify(path);
    if (seen !== null) open.push({ ...seen, tree: open.length, named: path, writable: mode === "write" });
  }
  return open;
}

function identify(path: FilePath): Omit<OpenTree, "tree" | "named" | "writable"> | null {
  const real = realRoot(path);
  for (let depth = real?.length ?? -1; real !== null && depth >= 0; depth--) {
    const base = real.slice(0, depth);
    const facts = statSync(`/${base.join("/")}`, { bigint: true, throwIfNoEntry: false });
    if (facts?.isDirectory() === true)
      return { real, base, inside: real.slice(depth), device: facts.dev, inode: facts.ino };
  }
  return null;
}

/** Whether the name still leads to what was opened: the same folder, and the same remaining path. */
export function isStillThere({ named, inside, device, inode }: OpenTree): boolean {
  if (inside.length === 0) {
    // Whatever links are on the path, a folder is at its end, and one stat identifies it.
    const facts = factsAt(named);
    return facts?.isDirectory() === true && facts.dev === device && facts.ino === inode;
  }
  const now = identify(named);
  return now?.device === device && now.inode === inode && now.inside.length === inside.length;
}

function factsAt(path: FilePath): BigIntStats | undefined {
  try {
    return statSync(`/${path.join("/")}`, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The innermost tree that contains a path by its name; for writing, of the writable trees. */
export function positionByName(trees: readonly OpenTree[], path: FilePath, writing: boolean): TreePosition | null {
  return innermost(trees, path, writing, (tree) => tree.named);
}

/** The same by real path. */
export function positionByRealPath(trees: readonly OpenTree[], path: FilePath, writing: boolean): TreePosition | null {
  return innermost(trees, path, writing, (tree) => tree.real);
}

function innermost(
  trees: readonly OpenTree[],
  path: FilePath,
  writing: boolean,
  rootOf: (tree: OpenTree) => FilePath,
): TreePosition | null {
  let best: OpenTree | null = null;
  for (const tree of trees) {
    if ((writing && !tree.writable) || !isAtOrBelow(path, rootOf(tree))) continue;
    if (best === null || rootOf(tree).length > rootOf(best).length) best = tree;
  }
  return best === null ? null : { tree: best, rest: path.slice(rootOf(best).length) };
}

export function isAtOrBelow(path: FilePath, root: FilePath): boolean {
  if (root.length > path.length) return false;
  for (let at = 0; at < root.length; at++) if (root[at] !== path[at]) return false;
  return true;
}
