// Wakes a live root when a folder of either side changes. Folders that cannot be watched are polled.
import { type FSWatcher, watch } from "node:fs";
import type { FolderPair } from "./compare-sides.ts";
import { TreeFolder } from "./tree-folder.ts";

/** Of both sides together. */
const watchesMax = 4_096;
const pollMilliseconds = 3_000;
const pollUnwatchedMilliseconds = 500;
/** Debounce: changes come in bursts. */
const burstMilliseconds = 40;
/** The minimum interval between comparisons, as a multiple of their cost. */
const restFactor = 4;

export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #isAllWatched = false;
  #isDirty = false;
  #isClosed = false;
  /** The next comparison starts at once. */
  #isUrgent = false;
  #wake: () => void = () => undefined;

  /** Shallow folders first: where there are too many, those that people edit are watched. `outside`: absolute, beside both sides. */
  follow(folders: readonly FolderPair[], real: TreeFolder, copy: TreeFolder, outside: readonly string[] = []): void {
    const wanted = new Set<string>();
    let isAll = true;
    for (const path of outside) {
      const folder = openFolder(path);
      if (folder === null) continue;
      const key = `outside ${folder.inode} ${path}`;
      wanted.add(key);
      if (!this.#watchers.has(key) && !this.#watch(key, folder)) isAll = false;
      folder.close();
    }
    for (const pair of folders)
      for (const [side, top] of [
        ["real", real],
        ["copy", copy],
      ] as const) {
        const inode = pair[side];
        if (inode === null) continue;
        const { path } = pair;
        // A folder that was created again has another inode, and needs a new watch.
        const key = `${side} ${inode} ${path.join("/")}`;
        if (wanted.size >= watchesMax) isAll = false;
        else {
          wanted.add(key);
          if (!this.#watchers.has(key) && !this.#add(key, path, top)) isAll = false;
        }
      }
    for (const [key, watcher] of this.#watchers)
      if (!wanted.has(key)) {
        watcher.close();
        this.#watchers.delete(key);
      }
    this.#isAllWatched = isAll;
  }

  /** Waits for a change or for the poll interval. `took`: milliseconds of the last comparison. */
  async wait(milliseconds: number | null, took: number): Promise<void> {
    const rest = Math.max(burstMilliseconds, took * restFactor);
    const poll = this.#isAllWatched ? pollMilliseconds : pollUnwatchedMilliseconds;
    if (milliseconds !== null) await this.#sleep(Math.max(rest, milliseconds), false);
    else {
      if (!this.#isDirty) await this.#sleep(Math.max(rest, poll), true);
      if (this.#isDirty) await this.#sleep(rest, false);
    }
    this.#isDirty = false;
    this.#isUrgent = false;
  }

  /** Ends the wait of now, or the next one. */
  hurry(): void {
    this.#isUrgent = true;
    this.#wake();
  }

  wake(): void {
    this.#isClosed = true;
    this.#wake();
  }

  close(): void {
    this.wake();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #sleep(milliseconds: number, isWoken: boolean): Promise<void> {
    if (this.#isClosed || this.#isUrgent) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        if (!isWoken && !this.#isClosed && !this.#isUrgent) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #add(key: string, path: readonly string[], top: TreeFolder): boolean {
    const folder = top.descend(path);
    // A folder that exists on one side only.
    if (folder === null) return true;
    try {
      return this.#watch(key, folder);
    } finally {
      folder.close();
    }
  }

  #watch(key: string, folder: TreeFolder): boolean {
    try {
      const watcher = watch(folder.path, { persistent: false }, () => {
        this.#isDirty = true;
        this.#wake();
      });
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(key);
        this.#isAllWatched = false;
      });
      this.#watchers.set(key, watcher);
      return true;
    } catch {
      return false;
    }
  }
}

/** Null where there is none. */
function openFolder(path: string): TreeFolder | null {
  try {
    return TreeFolder.open(path);
  } catch {
    return null;
  }
}
