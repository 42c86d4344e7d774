// The disk usage of a draft: counted across event-loop turns, up to a limit beyond which the exact number does not
// matter.
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface DraftSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** More than any limit on the files of drafts. */
const inodesMax = 2_000_000;
export const blockBytes = 512;

/**
 * Everything below the folders; zero where there is none, or where a name is gone before it is counted. Fails where a
 * folder cannot be listed: an uncounted folder may be large.
 */
export async function draftSize(...folders: readonly string[]): Promise<DraftSize> {
  const waiting = [...folders];
  let [bytes, inodes] = [0, 0];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = await opendir(at).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });
    for await (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) bytes += (await blocksOf(path)) * blockBytes;
      inodes++;
      if (inodes >= inodesMax) return { bytes, inodes };
    }
  }
  return { bytes, inodes };
}

/** A program may delete its files while they are counted. */
async function blocksOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).blocks;
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}

export function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
