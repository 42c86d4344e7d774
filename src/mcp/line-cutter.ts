// Bytes to lines: each whole or not at all. A line that is too long is passed over to its end, however long that is.
import { lineBytesMax } from "./limits.ts";

const NEWLINE = 10;
/** As much of the beginning and of the end of a line that is passed over as is kept. */
const edgeBytes = 256;

export type Line =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "long"; readonly head: Buffer; readonly tail: Buffer };

export class LineCutter {
  #parts: Buffer[] = [];
  #length = 0;
  /** Where the line is too long already: its beginning, and its end so far. */
  #long: { readonly head: Buffer; tail: Buffer } | null = null;

  /** Whoever hears says whether to go on: the rest is never looked at otherwise. */
  take(chunk: Buffer, hear: (line: Line) => boolean): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const line =
        this.#length === 0 && end - from <= lineBytesMax
          ? textLine(chunk, from, end)
          : this.#last(chunk.subarray(from, end));
      from = end + 1;
      if (!hear(line)) return;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** What came without an end. */
  rest(): Line | null {
    return this.#length === 0 && this.#long === null ? null : this.#cut();
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#long !== null) this.#long.tail = edge(Buffer.concat([this.#long.tail, part.subarray(-edgeBytes)]));
    // A copy: the bytes are read into again before the line is whole.
    else if (this.#length <= lineBytesMax) this.#parts.push(Buffer.from(part));
    else {
      const all = Buffer.concat([...this.#parts, part]);
      this.#long = { head: Buffer.from(all.subarray(0, edgeBytes)), tail: edge(all) };
      this.#parts = [];
    }
  }

  #last(part: Buffer): Line {
    this.#add(part);
    return this.#cut();
  }

  #cut(): Line {
    const long = this.#long;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#long = null;
    return long === null ? textLine(bytes, 0, bytes.length) : { kind: "long", head: long.head, tail: long.tail };
  }
}

function textLine(bytes: Buffer, from: number, end: number): Line {
  return { kind: "line", text: bytes.toString("utf8", from, end) };
}

/** A copy, so that what was passed over is not kept with it. */
function edge(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-edgeBytes));
}
