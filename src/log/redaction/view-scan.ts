// Looks through bytes that were made from others, and remembers for each where it came from.
import type { Automaton } from "./automaton.ts";
import { addInterval, type Interval } from "./intervals.ts";

export class ViewScan {
  readonly #automaton: Automaton;
  /** Where the last bytes came from: as many as the longest pattern has, over and over. */
  readonly #from: Float64Array;
  readonly #mask: number;
  #state = 0;
  #count = 0;
  #found: Interval[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    let size = 1;
    while (size <= automaton.longest) size *= 2;
    this.#from = new Float64Array(size);
    this.#mask = size - 1;
  }

  /** One byte that was made from those between `from` and `to`. Blanks are in no pattern here. */
  push(byte: number, from: number, to: number): void {
    if (isBlank(byte)) return;
    this.#from[this.#count & this.#mask] = from;
    this.#count = (this.#count + 1) | 0;
    this.#state = this.#automaton.next(this.#state, byte);
    const found = this.#automaton.found(this.#state);
    if (found === null) return;
    const start = this.#from[(this.#count - found.length) & this.#mask] as number;
    addInterval(this.#found, start, to, found.owners);
  }

  /** What comes next has nothing to do with what was before. */
  cut(): void {
    this.#state = 0;
  }

  /** What was found, by its place in the bytes it all came from. */
  take(): readonly Interval[] {
    const found = this.#found;
    this.#found = [];
    this.#state = 0;
    return found;
  }
}

export function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** How long the blank at this place is, spelled as a blank or as an escape for one; zero where there is none. */
export function blankAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  if (isBlank(byte)) return 1;
  if (byte !== 0x5c) return 0;
  const next = bytes[at + 1];
  return next === 0x6e || next === 0x72 || next === 0x74 ? 2 : 0;
}
