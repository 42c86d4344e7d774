// Redacts a stream of bytes. Only bytes that may still become a secret are held back: the output does not depend on how
// the input is split.
import type { Automaton } from "./automaton.ts";
import { escapeAt, isCompleteEscape, isEscapeStart, softBreakAt } from "./escapes.ts";
import { addInterval, type Interval } from "./intervals.ts";
import { bytesOf } from "./utf8.ts";
import { ViewScan } from "./view-scan.ts";

/** Finds secrets in a stream; offsets count from the start of the stream. */
export interface StreamScan {
  /**
   * Reads on, adds matches to `found`, and returns the offset before which everything is decided: no later match begins
   * there. `isEnd`: no more bytes follow.
   */
  read(bytes: Uint8Array, isEnd: boolean, found: Interval[]): number;
}

export class RedactionStream {
  readonly #scan: StreamScan;
  readonly #mark: (owners: ReadonlySet<number>) => Uint8Array;
  /** Bytes read in total, and the offset up to which everything is final and returned. */
  #read = 0;
  #given = 0;
  #held: Uint8Array = new Uint8Array(0);
  #intervals: Interval[] = [];

  /** `mark`: the replacement of a match. */
  constructor(scan: StreamScan, mark: (owners: ReadonlySet<number>) => Uint8Array) {
    this.#scan = scan;
    this.#mark = mark;
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  write(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes;
    const decided = this.#scan.read(bytes, false, this.#intervals);
    this.#read += bytes.length;
    return this.#give(bytes, decided);
  }

  end(): Uint8Array {
    const none = new Uint8Array(0);
    this.#scan.read(none, true, this.#intervals);
    return this.#give(none, this.#read);
  }

  /** INVARIANT: no later match begins before `decided`. */
  #give(bytes: Uint8Array, decided: number): Uint8Array {
    if (this.#held.length === 0 && this.#intervals.length === 0 && decided === this.#read) {
      this.#given = decided;
      // A copy: the caller may reuse its buffer.
      return bytes.slice();
    }
    const all = joinBytes([this.#held, bytes]);
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
    return joinBytes(pieces);
  }
}

/** The bytes as they are. */
export class PlainScan implements StreamScan {
  readonly #automaton: Automaton;
  #state = 0;
  #read = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  read(bytes: Uint8Array, isEnd: boolean, found: Interval[]): number {
    const automaton = this.#automaton;
    let state = this.#state;
    for (let at = 0; at < bytes.length; at++) {
      state = automaton.next(state, bytes[at] as number);
      const here = automaton.found(state);
      if (here === null) continue;
      const end = this.#read + at + 1;
      addInterval(found, end - here.length, end, here.owners);
    }
    this.#state = isEnd ? 0 : state;
    this.#read += bytes.length;
    return this.#read - (automaton.depth[this.#state] as number);
  }
}

/** More soft line breaks in a row than this end a match, so that the bytes held back stay bounded. */
const softBreaksMax = 64;

/** The bytes with their escapes decoded: of JSON, URLs, HTML and quoted-printable, in any mixture. */
export class EscapeScan implements StreamScan {
  readonly #scan: ViewScan;
  /** The beginning of an escape whose rest has not arrived. */
  #tail: Uint8Array = new Uint8Array(0);
  #read = 0;
  #softBreaks = 0;

  constructor(automaton: Automaton) {
    this.#scan = new ViewScan(automaton, "keep blanks");
  }

  read(bytes: Uint8Array, isEnd: boolean, found: Interval[]): number {
    const all = this.#tail.length === 0 ? bytes : joinBytes([this.#tail, bytes]);
    const base = this.#read - this.#tail.length;
    let at = 0;
    for (; at < all.length; ) {
      const byte = all[at] as number;
      if (isEscapeStart(byte)) {
        if (!isEnd && !isCompleteEscape(all, at)) break;
        at += this.#escape(all, at, base);
      } else {
        this.#softBreaks = 0;
        this.#scan.push(byte, base + at, base + at + 1);
        at++;
      }
    }
    this.#tail = all.slice(at);
    this.#read += bytes.length;
    for (const { start, end, owners } of this.#scan.found()) addInterval(found, start, end, owners);
    const partial = this.#scan.partialStart();
    if (isEnd) this.#scan.cut();
    return Math.min(partial ?? base + at, base + at);
  }

  /** Returns how many bytes were read. */
  #escape(bytes: Uint8Array, at: number, base: number): number {
    const soft = softBreakAt(bytes, at);
    if (soft > 0) {
      if (++this.#softBreaks > softBreaksMax) this.#scan.cut();
      return soft;
    }
    this.#softBreaks = 0;
    const decoded = escapeAt(bytes, at);
    const length = decoded?.length ?? 1;
    const from = base + at;
    if (decoded === null || decoded.isByte)
      this.#scan.push(decoded?.point ?? (bytes[at] as number), from, from + length);
    else for (const byte of bytesOf(String.fromCodePoint(decoded.point))) this.#scan.push(byte, from, from + length);
    return length;
  }
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
