// Scans decoded bytes, and maps each back to its source range.
import type { Automaton } from "./automaton.ts";
import { addInterval, type Interval } from "./intervals.ts";

export class ViewScan {
  readonly #automaton: Automaton;
  /** Source ranges of the last bytes: a ring buffer as long as the longest pattern. */
  readonly #from: Float64Array;
  readonly #mask: number;
  readonly #skipsBlanks: boolean;
  #state = 0;
  #count = 0;
  #found: Interval[] = [];

  /** Where blanks are skipped, the automaton's patterns have none. */
  constructor(automaton: Automaton, blanks: "skip blanks" | "keep blanks" = "skip blanks") {
    this.#automaton = automaton;
    this.#skipsBlanks = blanks === "skip blanks";
    let size = 1;
    while (size <= automaton.longest) size *= 2;
    this.#from = new Float64Array(size);
    this.#mask = size - 1;
  }

  /** One byte decoded from the source bytes between `from` and `to`. */
  push(byte: number, from: number, to: number): void {
    if (this.#skipsBlanks && isBlank(byte)) return;
    this.#from[this.#count & this.#mask] = from;
    this.#count = (this.#count + 1) | 0;
    this.#state = this.#automaton.next(this.#state, byte);
    const found = this.#automaton.found(this.#state);
    if (found === null) return;
    const start = this.#from[(this.#count - found.length) & this.#mask] as number;
    addInterval(this.#found, start, to, found.owners);
  }

  /** Ends the current sequence: what follows is unrelated. */
  cut(): void {
    this.#state = 0;
  }

  /** The matches, by their source ranges; the sequence goes on. */
  found(): readonly Interval[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** The matches, and the end of the sequence. */
  take(): readonly Interval[] {
    this.#state = 0;
    return this.found();
  }

  /** The source offset at which the pattern begins that the last bytes may belong to; null if there is none. */
  partialStart(): number | null {
    const depth = this.#automaton.depth[this.#state] as number;
    return depth === 0 ? null : (this.#from[(this.#count - depth) & this.#mask] as number);
  }
}

export function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Length of the blank here, plain or escaped; zero if there is none. */
export function blankAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  if (isBlank(byte)) return 1;
  if (byte !== 0x5c) return 0;
  const next = bytes[at + 1];
  return next === 0x6e || next === 0x72 || next === 0x74 ? 2 : 0;
}
