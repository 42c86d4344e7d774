// The identity of a file: device, inode, kind and birth time.
import { type BigIntStats, lstatSync } from "node:fs";

export interface Identity {
  readonly isFolder: boolean;
  readonly device: bigint;
  readonly inode: bigint;
  /** The inode number of a deleted file is reused; its birth time is not. */
  readonly made: bigint;
}

/** Of the name itself, never of a link's target. Null where nothing exists, or it cannot be read. */
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
