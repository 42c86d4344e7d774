// Redacts a stream of bytes. Only bytes that may still become a secret are held back: the output does not depend on how
// the input is split.
import type { Automaton } from "./automaton.ts";
import { addInterval, type Interval } from "./intervals.ts";

export class RedactionStream {
  readonly #automaton: Automaton;
  readonly #mark: (owners: ReadonlySet<number>) => Uint8Array;
  #state = 0;
  /** Bytes read in total, and the offset up to which everything is final and returned. */
  #read = 0;
  #given = 0;
  #held: Uint8Array = new Uint8Array(0);
  #intervals: Interval[] = [];

  /** `mark`: the replacement of a match. */
  constructor(automaton: Automaton, mark: (owners: ReadonlySet<number>) => Uint8Array) {
    this.#automaton = automaton;
    this.#mark = mark;
  }

  write(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes;
    const automaton = this.#automaton;
    let state = this.#state;
    for (let at = 0; at < bytes.length; at++) {
      state = automaton.next(state, bytes[at] as number);
      const found = automaton.found(state);
      if (found === null) continue;
      const end = this.#read + at + 1;
      addInterval(this.#intervals, end - found.length, end, found.owners);
    }
    this.#state = state;
    this.#read += bytes.length;
    return this.#give(bytes, this.#read - (automaton.depth[state] as number));
  }

  end(): Uint8Array {
    const rest = this.#give(new Uint8Array(0), this.#read);
    this.#state = 0;
    return rest;
  }

  /** INVARIANT: no later match begins before `decided`. */
  #give(bytes: Uint8Array, decided: number): Uint8Array {
    if (this.#held.length === 0 && this.#intervals.length === 0 && decided === this.#read) {
      this.#given = decided;
      // A copy: the caller may reuse its buffer.
      return bytes.slice();
    }
    const all = joined([this.#held, bytes]);
    const base = this.#read - all.length;
    const pieces: Uint8Array[] = [];
    let done = 0;
    for (const interval of this.#intervals) {
      if (interval.start >= decided) break;
      if (interval.start > this.#given) pieces.push(all.subarray(this.#given - base, interval.start - base));
      this.#given = Math.min(interval.end, decided);
      if (interval.end > decided) break;
      pieces.push(this.#mark(interval.owners));
      done++;
    }
    this.#intervals = this.#intervals.slice(done);
    const isInside = (this.#intervals[0]?.start ?? decided) < decided;
    if (!isInside && decided > this.#given) pieces.push(all.subarray(this.#given - base, decided - base));
    this.#given = Math.max(this.#given, decided);
    this.#held = all.slice(this.#given - base);
    return joined(pieces);
  }
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
