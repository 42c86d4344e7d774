// Repeated identical denials: the first few are logged, the others are counted, and no count is lost.
import type { Digest } from "../../core/ports/digest.ts";
import { canonicalJson } from "../chain/canonical.ts";

export const floodWindowMilliseconds = 10_000;
/** This many of a kind are logged in each window. */
export const floodWritesMax = 3;
/** Kinds tracked separately; beyond it everything is logged. */
export const floodKindsMax = 1024;
const keyCharactersMax = 512;

export interface Flood<About> {
  readonly key: string;
  /** How many were counted instead of logged. */
  readonly times: number;
  /** The start of its window. */
  readonly first: number;
  /** The context of the first denial of the window. */
  readonly about: About | null;
}

interface Window<About> {
  readonly first: number;
  readonly about: About | null;
  written: number;
  counted: number;
}

/** Identical calls have the same key. Long keys are hashed. */
export function floodKey(
  digest: Digest,
  of: {
    readonly session: string | null;
    readonly tool: string;
    readonly code: string;
    readonly requests: readonly string[];
  },
): string {
  const key = canonicalJson([of.session, of.tool, of.code, of.requests]);
  return key.length > keyCharactersMax ? digest(key) : key;
}

/** INVARIANT: a count is kept until it is handed out; memory is bounded by the number of kinds. */
export class FloodCount<About = null> {
  readonly #windows = new Map<string, Window<About>>();
  /** Windows that have ended and were not handed out yet. */
  readonly #ended = new Map<string, Flood<About>>();

  /** `times`: how many denials it stands for; the caller logs that number. */
  take(key: string, now: number, about: About | null = null, times = 1): "write" | "counted" {
    const window = this.#windows.get(key);
    if (window !== undefined && !(isOver(window, now) && this.#close(key, window))) return count(window, times);
    if (this.#windows.size >= floodKindsMax && !this.#forgetOne()) return "write";
    this.#windows.set(key, { first: now, about, written: 1, counted: 0 });
    return "write";
  }

  /** Those whose window has ended. Each is handed out once. */
  due(now: number): readonly Flood<About>[] {
    return this.#hand((window) => isOver(window, now));
  }

  /** All of them, ended or not, when the counts are needed now. */
  drain(): readonly Flood<About>[] {
    return this.#hand(() => true);
  }

  #hand(isMeant: (window: Window<About>) => boolean): readonly Flood<About>[] {
    const floods = [...this.#ended.values()];
    this.#ended.clear();
    for (const [key, window] of this.#windows) {
      if (!isMeant(window)) continue;
      this.#windows.delete(key);
      if (window.counted > 0) floods.push(floodOf(key, window));
    }
    return floods;
  }

  /** False if there is no room for its count: then the window continues. */
  #close(key: string, window: Window<About>): boolean {
    if (window.counted > 0) {
      const before = this.#ended.get(key);
      if (before === undefined && this.#ended.size >= floodKindsMax) return false;
      const flood = floodOf(key, window);
      this.#ended.set(key, before === undefined ? flood : { ...before, times: before.times + flood.times });
    }
    this.#windows.delete(key);
    return true;
  }

  /** Only a window without a count can be dropped. */
  #forgetOne(): boolean {
    for (const [key, { counted }] of this.#windows) {
      if (counted > 0) continue;
      this.#windows.delete(key);
      return true;
    }
    return false;
  }
}

function count<About>(window: Window<About>, times: number): "write" | "counted" {
  if (window.written < floodWritesMax) {
    window.written++;
    return "write";
  }
  window.counted += times;
  return "counted";
}

/** A clock that was set back ends a window too, so that no window waits for a time far ahead. */
function isOver({ first }: Window<unknown>, now: number): boolean {
  return now >= first + floodWindowMilliseconds || now < first;
}

function floodOf<About>(key: string, { first, about, counted }: Window<About>): Flood<About> {
  return { key, times: counted, first, about };
}
