// What was read from authority files, kept as long as they are as they were. Their own text is looked at in every turn; what
// stands around it when a watcher rings, and in any case several times a second.
import { type Stats, statSync } from "node:fs";
import type { FolderWatch } from "./folder-watch.ts";
import { isUnchanged } from "./settled.ts";

/** A file system's clock ticks this slowly at most: two edits within one tick may look the same. */
const tickMilliseconds = 20;
/** Whatever the files look like, what links lead to may have changed. */
const staleMilliseconds = 500;
/** INVARIANT: well below a second. A watcher may miss what happens above its folder, or on another machine. */
const lookMilliseconds = 200;
const keptMax = 1024;
const THERE_OR_NOT = { throwIfNoEntry: false } as const;

/** Every file and folder a value depends on. */
export interface Sources {
  /** Its own text: looked at in every turn. */
  readonly text: string | null;
  readonly files: readonly string[];
  /** What is put into them or taken out counts. */
  readonly folders: readonly string[];
}

export const NO_SOURCES: Sources = { text: null, files: [], folders: [] };

/** How a file or folder looked. */
interface Look {
  readonly path: string;
  /** Null where there was nothing. */
  readonly facts: Stats | null;
  /** Of what was changed just now it cannot be told whether it was changed again: it is read every time. */
  readonly isYoung: boolean;
}

interface Cached<T> {
  readonly value: T;
  readonly read: number;
  readonly all: readonly Look[];
  /** Those that are looked at in every turn. */
  near: readonly Look[];
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
    // Watched and looked at first: what changes while it is read is read again.
    const { all, near } = this.#look(sourcesOf());
    const value = read();
    if (this.#known.size >= keptMax) this.#known.clear();
    this.#known.set(key, { value, read: looked, all, near, turn, looked, rings });
    return value;
  }

  #isFresh(known: Cached<T>, sourcesOf: () => Sources): boolean {
    const [now, rings] = [this.#caches.elapsed, this.#caches.rings];
    if (now - known.read >= staleMilliseconds) return false;
    if (known.rings === rings && now - known.looked < lookMilliseconds) return known.near.every(isStill);
    const { all, near } = this.#look(sourcesOf());
    if (all.length !== known.all.length || !all.every((look, at) => isSame(known.all[at] as Look, look))) return false;
    known.near = near;
    known.looked = now;
    known.rings = rings;
    return true;
  }

  #look(sources: Sources): { readonly all: readonly Look[]; readonly near: readonly Look[] } {
    const near = this.#caches.near(sources);
    const { text, files, folders } = sources;
    const all = [...(text === null ? [] : [text]), ...files, ...folders].map(lookAt);
    return { all, near: all.filter(({ path }) => near.includes(path)) };
  }
}

function lookAt(path: string): Look {
  const facts = factsAt(path);
  return { path, facts, isYoung: facts !== null && isYoung(facts) };
}

function isSame(before: Look, now: Look): boolean {
  return before.path === now.path && !before.isYoung && !now.isYoung && isEqual(before.facts, now.facts);
}

/** As `isSame` of a look at it now. This is what every call waits for: nothing is made for it. */
function isStill(before: Look): boolean {
  if (before.isYoung) return false;
  const facts = factsAt(before.path);
  return isEqual(before.facts, facts) && (facts === null || !isYoung(facts));
}

function isEqual(before: Stats | null, now: Stats | null): boolean {
  return before === null || now === null ? before === now : isUnchanged(before, now);
}

function isYoung({ ctimeMs }: Stats): boolean {
  return Math.abs(Date.now() - ctimeMs) < tickMilliseconds;
}

/** Of what a link leads to; null where there is nothing, or nothing can be seen. */
function factsAt(path: string): Stats | null {
  try {
    return statSync(path, THERE_OR_NOT) ?? null;
  } catch {
    return null;
  }
}
