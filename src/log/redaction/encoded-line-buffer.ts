// The last scan of a stream: lines that look like base64, hexadecimal or a dump are buffered until the run of them ends,
// and scanned together. All other lines pass at once. Which lines are buffered depends on their content alone, not on
// how the stream is split.
import { joinBytes } from "./redaction-stream.ts";

/** A longer run is scanned in parts, and so is a longer line. */
export const bufferedBytesMax: number = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines of base64 or hexadecimal, wrapped at any usual width. */
const DIGITS = /^[ \t]*[A-Za-z0-9+/_-]{11,}={0,2}[ \t\r]*$/;
/** The last line may be short, and so may the beginning of an incomplete one. */
const FEW_DIGITS = /^[ \t]*[A-Za-z0-9+/_-]*={0,2}[ \t\r]*$/;
/** Pairs with separators, with or without an offset before them and text after them. */
const DUMP = /^[ \t]*(?:[0-9A-Fa-f]{4,16}[: ])?[ \t]*(?:(?:0x|\\x)?[0-9A-Fa-f]{2,}[ \t:,-]+)+/;
/** INVARIANT: matches every beginning of a line that matches `DUMP` before `DUMP` itself does. */
const DUMP_BEGINNING = /^[ \t]*(?:[0-9A-Fa-f]{4,16}[: ][ \t]*)?(?:0x?|\\x?)?[0-9A-Fa-f]*$/;

export class EncodedLineBuffer {
  readonly #redact: (bytes: Uint8Array) => Uint8Array;
  /** Complete lines that look encoded. */
  #run: Uint8Array[] = [];
  #runBytes = 0;
  /** The beginning of the incomplete line. */
  #line: Uint8Array = new Uint8Array(0);
  /** Whether the beginning of this line passed: then its rest does too. */
  #isPassing = false;

  constructor(redact: (bytes: Uint8Array) => Uint8Array) {
    this.#redact = redact;
  }

  get isHolding(): boolean {
    return this.#line.length > 0 || this.#run.length > 0;
  }

  /** Returns the bytes that are final. */
  write(bytes: Uint8Array): Uint8Array {
    const out: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const room = bufferedBytesMax - this.#line.length;
      const newline = bytes.indexOf(NEWLINE, start);
      const end = Math.min(newline < 0 ? bytes.length : newline + 1, this.#isPassing ? bytes.length : start + room);
      this.#line = joinBytes([this.#line, bytes.subarray(start, end)]);
      start = end;
      if (end === newline + 1) this.#endLine(out);
      else if (this.#isPassing || !mayBeEncoded(this.#line)) this.#pass(out);
      // A line that is too long is scanned in parts of equal size.
      else if (this.#line.length === bufferedBytesMax) this.#hold(out);
    }
    return joinBytes(out);
  }

  end(): Uint8Array {
    const out: Uint8Array[] = [];
    if (this.#line.length > 0) this.#hold(out);
    this.#give(out);
    this.#isPassing = false;
    return joinBytes(out);
  }

  #endLine(out: Uint8Array[]): void {
    const text = textOf(this.#line);
    const isEncoded = !this.#isPassing && (isEncodedLine(text) || (this.#run.length > 0 && FEW_DIGITS.test(text)));
    if (isEncoded) this.#hold(out);
    else this.#pass(out);
    this.#isPassing = false;
  }

  #pass(out: Uint8Array[]): void {
    this.#give(out);
    out.push(this.#line);
    this.#line = new Uint8Array(0);
    this.#isPassing = true;
  }

  #hold(out: Uint8Array[]): void {
    if (this.#runBytes + this.#line.length > bufferedBytesMax) this.#give(out);
    this.#run.push(this.#line);
    this.#runBytes += this.#line.length;
    this.#line = new Uint8Array(0);
  }

  #give(out: Uint8Array[]): void {
    if (this.#run.length === 0) return;
    out.push(this.#redact(joinBytes(this.#run)));
    this.#run = [];
    this.#runBytes = 0;
  }
}

function isEncodedLine(text: string): boolean {
  return DIGITS.test(text) || DUMP.test(text);
}

/** Whether an incomplete line may still become one that looks encoded. */
function mayBeEncoded(line: Uint8Array): boolean {
  const text = textOf(line);
  return FEW_DIGITS.test(text) || DUMP.test(text) || DUMP_BEGINNING.test(text);
}

/** The beginning of a long line is enough; each code unit is one byte. */
function textOf(line: Uint8Array): string {
  let text = "";
  const length = Math.min(line.length, lookedBytesMax);
  for (let at = 0; at < length; at++) {
    const byte = line[at] as number;
    if (byte !== NEWLINE) text += String.fromCharCode(byte);
  }
  return text;
}

const lookedBytesMax = 4096;
