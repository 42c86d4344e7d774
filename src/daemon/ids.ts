// Ids: a kind prefix, a time part for kinds that are stored in order, and a random suffix.
import { randomFillSync } from "node:crypto";
import type { DaemonParts } from "./parts.ts";

/** No look-alike characters; in sort order. */
const LETTERS = "23456789abcdefghijkmnpqrstuvwxyz";
/** Five bits each: eighty random bits. */
const randomCharacters = 16;
/** Enough for a thousand years. */
const timeCharacters = 8;
const timeUnitMilliseconds = 32;
/** Two characters per lookup. */
const PAIRS: readonly string[] = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => first + second));
/** Random bytes are drawn in batches: drawing them per id costs more than building the id. */
const randomWords: number = 512 * (randomCharacters / 2);

/** Entries, calls and observations: frequent ids need an append-only index, or every insert touches another page. */
const TIMED: ReadonlySet<string> = new Set(["c", "e", "o"]);

/** INVARIANT: no random word is used twice, and no used word stays in memory. */
export class IdGenerator {
  readonly #now: () => number;
  readonly #heap = new Uint16Array(randomWords);
  #used = randomWords;
  #unit = -1;
  #time = "";

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  readonly id: DaemonParts["id"] = (letter) =>
    TIMED.has(letter) ? `${letter}_${this.#timeText()}${this.name()}` : `${letter}_${this.name()}`;

  /** Random part only. */
  name(): string {
    if (this.#used >= randomWords) {
      randomFillSync(this.#heap);
      this.#used = 0;
    }
    let text = "";
    for (const end = this.#used + randomCharacters / 2; this.#used < end; this.#used++) {
      text += PAIRS[(this.#heap[this.#used] as number) & 1023];
      this.#heap[this.#used] = 0;
    }
    return text;
  }

  /** The order only helps the index, and nothing relies on it: clocks jump. */
  #timeText(): string {
    const now = this.#now();
    const unit = Number.isFinite(now) ? Math.max(0, Math.floor(now / timeUnitMilliseconds)) : 0;
    if (unit === this.#unit) return this.#time;
    let text = "";
    for (let rest = unit; text.length < timeCharacters; rest = Math.floor(rest / 32)) text = LETTERS[rest % 32] + text;
    [this.#unit, this.#time] = [unit, text];
    return text;
  }
}
