// Many denials that are the same: the first few are written, the others are counted, and no count is ever lost.
import type { Digest } from "../../core/ports/digest.ts";
import { canonicalJson } from "../chain/canonical.ts";

export const floodWindowMilliseconds = 10_000;
/** So many of a kind are written in each window. */
export const floodWritesMax = 3;
/** Kinds that are told apart at once; beyond it everything is written. */
export const floodKindsMax = 1024;
const keyCharactersMax = 512;

export interface Flood<About> {
  readonly key: string;
  /** How many were counted instead of written. */
  readonly times: number;
  /** When its window began. */
  readonly first: number;
  /** What came with the first of the window. */
  readonly about: About | null;
}

interface Window<About> {
  readonly first: number;
  readonly about: About | null;
  written: number;
  counted: number;
}

/** Calls that are the same for whoever made them. Long ones are named by their hash. */
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

/** INVARIANT: what was counted and not handed out yet is kept; memory is bounded by the number of kinds. */
export class FloodCount<About = null> {
  readonly #windows = new Map<string, Window<About>>();
  /** Windows that are over and were not asked for yet. */
  readonly #ended = new Map<string, Flood<About>>();

  /** `times`: how many it stands for; whoever writes it writes that. */
  take(key: string, now: number, about: About | null = null, times = 1): "write" | "counted" {
    const window = this.#windows.get(key);
    if (window !== undefined && !(isOver(window, now) && this.#close(key, window))) return count(window, times);
    if (this.#windows.size >= floodKindsMax && !this.#forgetOne()) return "write";
    this.#windows.set(key, { first: now, about, written: 1, counted: 0 });
    return "write";
  }

  /** Those whose window is over. Each is handed out once. */
  due(now: number): readonly Flood<About>[] {
    return this.#hand((window) => isOver(window, now));
  }

  /** All of them, over or not: something needs the counts now. */
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

  /** False where there is no room for its count: then it goes on. */
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

  /** Only what has no count can be forgotten. */
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

/** A clock that was set back ends a window, too: nothing waits for a time that was. */
function isOver({ first }: Window<unknown>, now: number): boolean {
  return now >= first + floodWindowMilliseconds || now < first;
}

function floodOf<About>(key: string, { first, about, counted }: Window<About>): Flood<About> {
  return { key, times: counted, first, about };
}
