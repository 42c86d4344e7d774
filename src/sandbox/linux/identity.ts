// Which file a name stands for: the device, the number on it, what kind of file it is, and since when.
import { type BigIntStats, lstatSync } from "node:fs";

export interface Identity {
  readonly isFolder: boolean;
  readonly device: bigint;
  readonly inode: bigint;
  /** The number of a file that is gone is given to the next one; the moment it was made is not. */
  readonly made: bigint;
}

/** Of the name itself, never of what a link leads to. Null where there is nothing, or nothing we may look at. */
export function identityAt(path: string): Identity | null {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? null : identityOf(found);
  } catch {
    return null;
  }
}

export function identityOf(found: BigIntStats): Identity {
  return { isFolder: found.isDirectory(), device: found.dev, inode: found.ino, made: found.birthtimeNs };
}

export function isSame(left: Identity, right: Identity | null): boolean {
  return (
    right !== null &&
    left.isFolder === right.isFolder &&
    left.device === right.device &&
    left.inode === right.inode &&
    left.made === right.made
  );
}
