// Names of what the daemon makes: a letter for the kind, the time where many are kept in order, and letters and digits by chance.
import { randomFillSync } from "node:crypto";
import type { DaemonParts } from "./parts.ts";

/** Those that are not taken for one another, in the order in which they are sorted. */
const LETTERS = "23456789abcdefghijkmnpqrstuvwxyz";
/** Five bits each: eighty of chance. */
const chanceCharacters = 16;
/** Enough for a thousand years. */
const timeCharacters = 8;
const timeUnitMilliseconds = 32;
/** Two characters at once. */
const PAIRS: readonly string[] = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => first + second));
/** Chance is asked for in advance: to ask for each name costs more than to write it down. */
const heapWords: number = 512 * (chanceCharacters / 2);

/** Entries, calls and observations: so many that their index must grow at its end, or every one changes another page of it. */
const TIMED: ReadonlySet<string> = new Set(["c", "e", "o"]);

/** INVARIANT: no word of chance is used twice, and none that was used stays in memory. */
export class Names {
  readonly #now: () => number;
  readonly #heap = new Uint16Array(heapWords);
  #used = heapWords;
  #unit = -1;
  #time = "";

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  readonly id: DaemonParts["id"] = (letter) =>
    TIMED.has(letter) ? `${letter}_${this.#timeText()}${this.name()}` : `${letter}_${this.name()}`;

  /** By chance alone. */
  name(): string {
    if (this.#used >= heapWords) {
      randomFillSync(this.#heap);
      this.#used = 0;
    }
    let text = "";
    for (const end = this.#used + chanceCharacters / 2; this.#used < end; this.#used++) {
      text += PAIRS[(this.#heap[this.#used] as number) & 1023];
      this.#heap[this.#used] = 0;
    }
    return text;
  }

  /** The order is a kindness to the index and nothing rests on it: clocks jump. */
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
