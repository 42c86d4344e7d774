// Which file a name stands for: the device, the number on it, what kind of file it is, and since when.
import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";

export type Kind = "folder" | "file" | "link" | "other";

export interface Identity {
  readonly kind: Kind;
  readonly device: bigint;
  readonly inode: bigint;
  /** The number of a file that is gone is given to the next one; the moment it was made is not. */
  readonly made: bigint;
  /** What a link says, which is all there is to it; null for anything else. */
  readonly link: string | null;
}

/** Something is there, or could be, that we may not look at. */
export type Hidden = "hidden";

/** Of the name itself, never of what a link leads to. Null where there is nothing. */
export function identityAt(path: string): Identity | Hidden | null {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return null;
    return found.isSymbolicLink() ? { ...identityOf(found), link: readlinkSync(path) } : identityOf(found);
  } catch {
    return "hidden";
  }
}

export function identityOf(found: BigIntStats): Identity {
  return { kind: kindOf(found), device: found.dev, inode: found.ino, made: found.birthtimeNs, link: null };
}

export function isSame(left: Identity | Hidden | null, right: Identity | Hidden | null): boolean {
  if (left === null || right === null || left === "hidden" || right === "hidden") return left === right;
  if (left.link !== null || right.link !== null) return left.link === right.link;
  return (
    left.kind === right.kind && left.device === right.device && left.inode === right.inode && left.made === right.made
  );
}

function kindOf(found: BigIntStats): Kind {
  if (found.isDirectory()) return "folder";
  if (found.isFile()) return "file";
  return found.isSymbolicLink() ? "link" : "other";
}
