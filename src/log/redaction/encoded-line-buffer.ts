// The second scan of a stream: lines that look encoded (base64, dumps, escapes, quoted-printable) are buffered until
// the run of them ends, and scanned together. All other lines pass at once.
import { joined } from "./redaction-stream.ts";

/** A longer run is scanned in parts. */
export const heldBytesMax: number = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines of base64 or hexadecimal, wrapped at any usual width. */
const DIGITS = /^[ \t]*[A-Za-z0-9+/_-]{11,}={0,2}[ \t\r]*$/;
/** The last line may be short, and so may the beginning of an incomplete one. */
const FEW_DIGITS = /^[ \t]*[A-Za-z0-9+/_-]*={0,2}[ \t\r]*$/;
/** Pairs with separators, with or without an offset before them and text after them. */
const DUMP = /^[ \t]*(?:[0-9A-Fa-f]{4,16}[: ])?[ \t]*(?:(?:0x|\\x)?[0-9A-Fa-f]{2,}[ \t:,-]+)+/;
const ESCAPES = /\\[ux][0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|&#[0-9xX]|=[0-9A-Fa-f]{2}|=\r?$/;

export class EncodedLineBuffer {
  readonly #redact: (bytes: Uint8Array) => Uint8Array;
  /** Complete lines that look encoded, and then the beginning of the incomplete line. */
  #run: Uint8Array[] = [];
  #runBytes = 0;
  #line: Uint8Array = new Uint8Array(0);
  /** Whether a part of this line was passed on already: then its rest is too. */
  #isPassing = false;

  constructor(redact: (bytes: Uint8Array) => Uint8Array) {
    this.#redact = redact;
  }

  /** Returns the bytes that are final. */
  write(bytes: Uint8Array): Uint8Array {
    const out: Uint8Array[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#whole(joined([this.#line, bytes.subarray(start, end + 1)]), out);
      this.#line = new Uint8Array(0);
      start = end + 1;
    }
    this.#line = joined([this.#line, bytes.subarray(start)]);
    if (this.#line.length > 0 && (this.#isPassing || !mayBeEncoded(this.#line) || this.#line.length > heldBytesMax)) {
      this.#give(out);
      out.push(this.#line);
      this.#line = new Uint8Array(0);
      this.#isPassing = true;
    }
    return joined(out);
  }

  end(): Uint8Array {
    const out: Uint8Array[] = [];
    if (this.#line.length > 0) this.#hold(this.#line, out);
    this.#line = new Uint8Array(0);
    this.#give(out);
    this.#isPassing = false;
    return joined(out);
  }

  #whole(line: Uint8Array, out: Uint8Array[]): void {
    const text = textOf(line);
    const isEncoded = !this.#isPassing && (isEncodedLine(text) || (this.#run.length > 0 && FEW_DIGITS.test(text)));
    this.#isPassing = false;
    if (isEncoded) this.#hold(line, out);
    else {
      this.#give(out);
      out.push(line);
    }
  }

  #hold(line: Uint8Array, out: Uint8Array[]): void {
    if (this.#runBytes + line.length > heldBytesMax) this.#give(out);
    this.#run.push(line);
    this.#runBytes += line.length;
  }

  #give(out: Uint8Array[]): void {
    if (this.#run.length === 0) return;
    out.push(this.#redact(joined(this.#run)));
    this.#run = [];
    this.#runBytes = 0;
  }
}

function isEncodedLine(text: string): boolean {
  return DIGITS.test(text) || DUMP.test(text) || ESCAPES.test(text);
}

/** Whether an incomplete line may still become one that looks encoded. */
function mayBeEncoded(line: Uint8Array): boolean {
  const text = textOf(line);
  return FEW_DIGITS.test(text) || isEncodedLine(text);
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
