// Splits bytes into lines. A line over the limit is skipped to its end; only its first and last bytes are kept.

const NEWLINE = 10;
/** How much of the start and of the end of a skipped line is kept. */
const edgeBytes = 256;

export type Line =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "long"; readonly head: Buffer; readonly tail: Buffer };

export class LineReader {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Set once the current line is over the limit. */
  #long: { readonly head: Buffer; tail: Buffer } | null = null;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Calls `onLine` for each complete line; stops and drops the rest of the chunk when it returns false. */
  push(chunk: Buffer, onLine: (line: Line) => boolean): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      from = end + 1;
      if (!onLine(this.#take())) return;
    }
    this.#add(chunk.subarray(from));
  }

  /** Bytes of the line that has not ended yet. */
  get openBytes(): number {
    return this.#length;
  }

  /** The last line, where the input ended without a newline. */
  rest(): Line | null {
    return this.#length === 0 ? null : this.#take();
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#long !== null) this.#long.tail = lastBytes(Buffer.concat([this.#long.tail, part.subarray(-edgeBytes)]));
    // A copy: the input reuses its buffer before the line is complete.
    else if (this.#length <= this.#bytesMax) this.#parts.push(Buffer.from(part));
    else {
      const all = Buffer.concat([...this.#parts, part]);
      this.#long = { head: Buffer.from(all.subarray(0, edgeBytes)), tail: lastBytes(all) };
      this.#parts = [];
    }
  }

  #take(): Line {
    const long = this.#long;
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#length = 0;
    this.#long = null;
    return long === null ? { kind: "line", text } : { kind: "long", head: long.head, tail: long.tail };
  }
}

/** A copy, so that the skipped bytes can be freed. */
function lastBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-edgeBytes));
}
