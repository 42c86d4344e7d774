// A cache of values read from authority files. Every file and folder a value depends on is checked with `stat` once per
// event-loop turn, so an edit applies to every call that arrives after it.
import { type Stats, statSync } from "node:fs";
import { isUnchanged } from "./unchanged-files.ts";

/** The coarsest file system clock: two edits within one tick may look the same. */
const tickMilliseconds = 20;
/** A symlink inside a granted path may be retargeted without changing any of the files: values expire after this. */
const ageMillisecondsMax = 500;
const valuesMax = 1024;
const PRESENT_OR_NOT = { throwIfNoEntry: false } as const;

/** Every file and folder a value depends on; for a folder, its names. */
export type Sources = readonly string[];

export const NO_SOURCES: Sources = [];

/** State of a file or folder when the value was read. */
interface SourceState {
  readonly path: string;
  /** Null if it did not exist. */
  readonly facts: Stats | null;
  /** A second change within the same tick would be invisible: the value is read again. */
  readonly isRecent: boolean;
}

interface CachedValue<T> {
  readonly value: T;
  readonly readAt: number;
  readonly sources: readonly SourceState[];
  /** The event-loop turn in which it was last checked. */
  turn: number;
}

/** Numbers the turns of the event loop. */
export class TurnCounter {
  #turn = 0;
  #isScheduled = false;

  get now(): number {
    if (!this.#isScheduled)
      setImmediate(() => {
        this.#turn++;
        this.#isScheduled = false;
      });
    this.#isScheduled = true;
    return this.#turn;
  }
}

export class RecordCache<T> {
  readonly #turns: TurnCounter;
  readonly #elapsed: () => number;
  readonly #values = new Map<string, CachedValue<T>>();

  /** `elapsed`: milliseconds of a monotonic clock. */
  constructor(turns: TurnCounter, elapsed: () => number) {
    this.#turns = turns;
    this.#elapsed = elapsed;
  }

  get(key: string, sourcesOf: () => Sources, read: () => T): T {
    const cached = this.#values.get(key);
    const turn = this.#turns.now;
    if (cached !== undefined && (cached.turn === turn || this.#isFresh(cached))) {
      cached.turn = turn;
      return cached.value;
    }
    const readAt = this.#elapsed();
    // Their state is taken first: a change during the read causes another read.
    const sources = sourcesOf().map(stateOf);
    const value = read();
    if (this.#values.size >= valuesMax) this.#values.clear();
    this.#values.set(key, { value, readAt, sources, turn });
    return value;
  }

  #isFresh({ readAt, sources }: CachedValue<T>): boolean {
    return this.#elapsed() - readAt < ageMillisecondsMax && sources.every(isAsBefore);
  }
}

function stateOf(path: string): SourceState {
  const facts = factsAt(path);
  return { path, facts, isRecent: facts !== null && isRecent(facts) };
}

function isAsBefore({ path, facts: before, isRecent: wasRecent }: SourceState): boolean {
  if (wasRecent) return false;
  const now = factsAt(path);
  if (before === null || now === null) return before === now;
  return isUnchanged(before, now) && !isRecent(now);
}

function isRecent({ ctimeMs }: Stats): boolean {
  return Math.abs(Date.now() - ctimeMs) < tickMilliseconds;
}

/** Follows symlinks; null if it is missing or inaccessible. */
function factsAt(path: string): Stats | null {
  try {
    return statSync(path, PRESENT_OR_NOT) ?? null;
  } catch {
    return null;
  }
}
