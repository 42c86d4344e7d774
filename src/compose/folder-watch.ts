// Rings when something changes in a folder that authority is read from. A hint alone: whoever relies on it looks for itself
// now and then, because the kernel says nothing of some changes and may have no watcher left to give.
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

const foldersMax = 256;

interface Watched {
  readonly watcher: FSWatcher;
  /** The folder that is watched, whatever its name leads to by now. */
  readonly identity: string;
}

export class FolderWatch {
  readonly #watched = new Map<string, Watched>();
  readonly #except: ReadonlySet<string>;
  #rings = 0;

  /** `except`: folders in which we write ourselves all the time. */
  constructor(except: readonly string[]) {
    this.#except = new Set(except);
  }

  /** How often it rang. */
  get rings(): number {
    return this.#rings;
  }

  /** Whether a change of this file will ring, its beginning and its end included. */
  hearsFile(path: string): boolean {
    return this.#hears(dirname(path));
  }

  /** Whether a change of what is in this folder will ring; of one that is not there, that it begins. */
  hearsFolder(path: string): boolean {
    return this.#hears(path) || (identityOf(path) === null && this.#hears(dirname(path)));
  }

  /** Begins to watch where that is possible. */
  #hears(folder: string): boolean {
    if (this.#except.has(folder)) return false;
    const identity = identityOf(folder);
    const known = this.#watched.get(folder);
    if (known !== undefined && known.identity === identity) return true;
    if (known !== undefined) this.#drop(folder, known.watcher);
    return identity !== null && this.#watched.size < foldersMax && this.#begin(folder, identity);
  }

  #begin(folder: string, identity: string): boolean {
    try {
      // Never keeps the process alive.
      const watcher = watch(folder, { persistent: false }, () => {
        this.#rings++;
      });
      watcher.on("error", () => {
        this.#rings++;
        this.#drop(folder, watcher);
      });
      this.#watched.set(folder, { watcher, identity });
      // Another folder may have taken its place before we watched.
      if (identityOf(folder) === identity) return true;
      this.#drop(folder, watcher);
      return false;
    } catch {
      return false;
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    if (this.#watched.get(folder)?.watcher === watcher) this.#watched.delete(folder);
    watcher.close();
  }
}

function identityOf(folder: string): string | null {
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    return found?.isDirectory() === true ? `${found.dev}.${found.ino}` : null;
  } catch {
    return null;
  }
}
