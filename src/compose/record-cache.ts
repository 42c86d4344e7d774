// What was read from authority files, kept as long as they are as they were. Their own text is looked at in every turn; what
// stands around it when a watcher rings, and in any case several times a second.
import { statSync } from "node:fs";
import type { FolderWatch } from "./folder-watch.ts";

/** A file system's clock ticks this slowly at most: two edits within one tick may look the same. */
const tickMilliseconds = 20;
/** Whatever the files look like, what links lead to may have changed. */
const staleMilliseconds = 500;
/** INVARIANT: well below a second. A watcher may miss what happens above its folder, or on another machine. */
const lookMilliseconds = 200;
const keptMax = 1024;

/** Every file and folder a value depends on. */
export interface Sources {
  /** Its own text: looked at in every turn. */
  readonly text: string | null;
  readonly files: readonly string[];
  /** What is put into them or taken out counts. */
  readonly folders: readonly string[];
}

export const NO_SOURCES: Sources = { text: null, files: [], folders: [] };

interface Cached<T> {
  readonly value: T;
  readonly read: number;
  stamp: string;
  /** Those that are looked at in every turn, and how they looked. */
  near: readonly string[];
  nearStamp: string;
  /** The turn it was last looked at in. */
  turn: number;
  /** When all of it was looked at, and how often the watcher had rung before. */
  looked: number;
  rings: number;
}

export class RecordCaches {
  readonly #watch: FolderWatch;
  readonly #elapsed: () => number;
  #turn = 0;
  #isTurning = false;

  constructor(watch: FolderWatch, elapsed: () => number) {
    this.#watch = watch;
    this.#elapsed = elapsed;
  }

  get rings(): number {
    return this.#watch.rings;
  }

  get elapsed(): number {
    return this.#elapsed();
  }

  /** What arrived at once is one look, and whatever comes later is another: an edit holds for every call that is made after it. */
  turn(): number {
    if (!this.#isTurning)
      setImmediate(() => {
        this.#turn++;
        this.#isTurning = false;
      });
    this.#isTurning = true;
    return this.#turn;
  }

  /** Watched from now on, where that is possible: those for which nobody rings, and the text itself. */
  near({ text, files, folders }: Sources): readonly string[] {
    const near = text === null ? [] : [text];
    for (const file of files) if (!this.#watch.hearsFile(file)) near.push(file);
    for (const folder of folders) if (!this.#watch.hearsFolder(folder)) near.push(folder);
    return near;
  }
}

export class RecordCache<T> {
  readonly #caches: RecordCaches;
  readonly #known = new Map<string, Cached<T>>();

  constructor(caches: RecordCaches) {
    this.#caches = caches;
  }

  /** What was looked at in this turn already; null where it was not. */
  seen(key: string): T | null {
    const known = this.#known.get(key);
    return known !== undefined && known.turn === this.#caches.turn() ? known.value : null;
  }

  get(key: string, sourcesOf: () => Sources, read: () => T): T {
    const known = this.#known.get(key);
    const turn = this.#caches.turn();
    if (known !== undefined && (known.turn === turn || this.#isFresh(known, sourcesOf))) {
      known.turn = turn;
      return known.value;
    }
    const [looked, rings] = [this.#caches.elapsed, this.#caches.rings];
    // Watched and stamped first: what changes while it is read is read again.
    const sources = sourcesOf();
    const near = this.#caches.near(sources);
    const nearStamp = stampsOf(near);
    const stamp = stampOf(sources);
    const value = read();
    if (this.#known.size >= keptMax) this.#known.clear();
    this.#known.set(key, { value, read: looked, stamp, near, nearStamp, turn, looked, rings });
    return value;
  }

  #isFresh(known: Cached<T>, sourcesOf: () => Sources): boolean {
    const [now, rings] = [this.#caches.elapsed, this.#caches.rings];
    if (now - known.read >= staleMilliseconds) return false;
    if (known.rings === rings && now - known.looked < lookMilliseconds) return stampsOf(known.near) === known.nearStamp;
    const sources = sourcesOf();
    const near = this.#caches.near(sources);
    const nearStamp = stampsOf(near);
    if (stampOf(sources) !== known.stamp) return false;
    Object.assign(known, { near, nearStamp, looked: now, rings });
    return true;
  }
}

function stampOf({ text, files, folders }: Sources): string {
  return stampsOf([text ?? "", ...files, ...folders]);
}

function stampsOf(paths: readonly string[]): string {
  let all = "";
  for (const path of paths) all += `${stampText(path)}\n`;
  return all;
}

function stampText(path: string): string {
  if (path === "") return "-";
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "-";
    const { dev, ino, size, mtimeMs, ctimeMs } = found;
    // Of what was changed just now it cannot be told whether it was changed again: it is read every time.
    const isYoung = Math.abs(Date.now() - ctimeMs) < tickMilliseconds;
    return `${dev}.${ino}.${size}.${mtimeMs}.${ctimeMs}${isYoung ? ` ${performance.now()}` : ""}`;
  } catch {
    return "-";
  }
}
