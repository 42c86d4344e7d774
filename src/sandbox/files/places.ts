// The trees a worker holds, and where in them a path lies. A tree is what its name led to when it was looked at first,
// known by device and inode from then on.
import { type BigIntStats, statSync } from "node:fs";
import type { FilePath } from "../../core/ports/files.ts";
import { realRoot } from "../../platform/real-path.ts";

/** A folder with everything below it, or one file. */
export interface FileTree {
  readonly path: FilePath;
  readonly mode: "read" | "write";
}

export interface Place {
  readonly tree: number;
  /** As authority names it. */
  readonly named: FilePath;
  /** Where that is once links are followed. */
  readonly real: FilePath;
  /** The folder that is opened, and the way from there: nothing for a folder, names for a file or what is not there. */
  readonly base: FilePath;
  readonly inside: FilePath;
  readonly writable: boolean;
  /** Of the folder that is opened. */
  readonly device: bigint;
  readonly inode: bigint;
}

export interface Placed {
  readonly place: Place;
  /** Behind the place's own path. */
  readonly rest: FilePath;
}

/** A tree whose name leads nowhere is no place: nothing in it can be told from anything else. */
export function lookAt(trees: readonly FileTree[]): readonly Place[] {
  const places: Place[] = [];
  for (const { path, mode } of trees) {
    const seen = see(path);
    if (seen !== null) places.push({ ...seen, tree: places.length, named: path, writable: mode === "write" });
  }
  return places;
}

function see(path: FilePath): Omit<Place, "tree" | "named" | "writable"> | null {
  const real = realRoot(path);
  for (let depth = real?.length ?? -1; real !== null && depth >= 0; depth--) {
    const base = real.slice(0, depth);
    const facts = statSync(`/${base.join("/")}`, { bigint: true, throwIfNoEntry: false });
    if (facts?.isDirectory() === true)
      return { real, base, inside: real.slice(depth), device: facts.dev, inode: facts.ino };
  }
  return null;
}

/** Whether its name still leads to what was opened: the same folder, and as much or as little behind it. */
export function isStillThere({ named, inside, device, inode }: Place): boolean {
  if (inside.length === 0) {
    // Whatever links are on the way, a folder is at the end of them, and one look tells which.
    const facts = factsAt(named);
    return facts?.isDirectory() === true && facts.dev === device && facts.ino === inode;
  }
  const now = see(named);
  return now?.device === device && now.inode === inode && now.inside.length === inside.length;
}

function factsAt(path: FilePath): BigIntStats | undefined {
  try {
    return statSync(`/${path.join("/")}`, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The innermost tree that holds a path by the name it goes by, of those that may be written where that is wanted. */
export function placeNamed(places: readonly Place[], path: FilePath, writing: boolean): Placed | null {
  return innermost(places, path, writing, (place) => place.named);
}

/** The same for where something really lies. */
export function placeReal(places: readonly Place[], path: FilePath, writing: boolean): Placed | null {
  return innermost(places, path, writing, (place) => place.real);
}

function innermost(
  places: readonly Place[],
  path: FilePath,
  writing: boolean,
  rootOf: (place: Place) => FilePath,
): Placed | null {
  let best: Place | null = null;
  for (const place of places) {
    if ((writing && !place.writable) || !isAtOrBelow(path, rootOf(place))) continue;
    if (best === null || rootOf(place).length > rootOf(best).length) best = place;
  }
  return best === null ? null : { place: best, rest: path.slice(rootOf(best).length) };
}

export function isAtOrBelow(path: FilePath, root: FilePath): boolean {
  if (root.length > path.length) return false;
  for (let at = 0; at < root.length; at++) if (root[at] !== path[at]) return false;
  return true;
}
