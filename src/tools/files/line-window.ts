// Some lines out of a file that comes piece by piece: from one line on, so many, and no more bytes than fit.

const NEWLINE = 10;

export class LineWindow {
  readonly #offset: number;
  readonly #limit: number;
  readonly #bytes: Uint8Array;
  #length = 0;
  /** Where in what was kept the line begins that is being read. */
  #lineStart = 0;
  #line = 0;
  #isInLine = false;
  #isFull = false;
  #isCut = false;

  constructor(offset: number, limit: number, bytesMax: number) {
    this.#offset = offset;
    this.#limit = limit;
    this.#bytes = new Uint8Array(bytesMax);
  }

  /** False once it has what it wants: then there is more behind it. */
  push(piece: Uint8Array): boolean {
    for (let at = 0; at < piece.length; ) {
      if (this.#line - this.#offset >= this.#limit) this.#isFull = true;
      if (this.#isFull) return false;
      const newline = piece.indexOf(NEWLINE, at);
      const end = newline < 0 ? piece.length : newline + 1;
      if (this.#line >= this.#offset && !this.#keep(piece.subarray(at, end))) return false;
      this.#isInLine = newline < 0;
      if (newline >= 0) {
        this.#line++;
        this.#lineStart = this.#length;
      }
      at = end;
    }
    return true;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  get hasMore(): boolean {
    return this.#isFull;
  }

  /** The one line there is was longer than fits; the rest of it is left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Lines that are wholly passed, from the beginning of the file; the last one may have no end. */
  get passed(): number {
    return this.#line + (this.#isCut || this.#isInLine ? 1 : 0);
  }

  #keep(part: Uint8Array): boolean {
    const room = this.#bytes.length - this.#length;
    if (part.length <= room) {
      this.#bytes.set(part, this.#length);
      this.#length += part.length;
      return true;
    }
    this.#isFull = true;
    // A line that does not fit whole is for the next read; the first has to be cut, or no read would ever pass it.
    this.#isCut = this.#lineStart === 0;
    this.#isInLine = false;
    if (this.#isCut) this.#bytes.set(part.subarray(0, room), this.#length);
    this.#length = this.#isCut ? this.#bytes.length : this.#lineStart;
    return false;
  }
}
