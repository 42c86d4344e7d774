// Some lines out of a file that comes piece by piece: from one line on, so many, and no more bytes than fit.

const NEWLINE = 10;

const NOTHING = new Uint8Array(0);

export class LineWindow {
  readonly #offset: number;
  readonly #limit: number;
  readonly #bytesMax: number;
  /** A part of the first piece as it lies there; with a second one, as much as fits, in memory of our own. */
  #bytes: Uint8Array = NOTHING;
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
    this.#bytesMax = bytesMax;
  }

  /** False once it has what it wants: then there is more behind it. A piece stays as it is while the window is in use. */
  push(piece: Uint8Array): boolean {
    if (this.#isFull) return false;
    let from = -1;
    let at = 0;
    while (at < piece.length) {
      if (this.#line - this.#offset >= this.#limit) {
        this.#isFull = true;
        break;
      }
      const newline = piece.indexOf(NEWLINE, at);
      const end = newline < 0 ? piece.length : newline + 1;
      if (this.#line >= this.#offset) {
        if (from < 0) from = at;
        if (this.#length + end - from > this.#bytesMax) {
          this.#stop(piece, from);
          return false;
        }
      }
      this.#isInLine = newline < 0;
      if (newline >= 0) {
        this.#line++;
        this.#lineStart = this.#length + (from < 0 ? 0 : end - from);
      }
      at = end;
    }
    if (from >= 0) this.#keep(piece.subarray(from, at));
    return !this.#isFull;
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

  /** The line that is being read does not fit whole: it is for the next read. The first is cut, or no read would ever pass it. */
  #stop(piece: Uint8Array, from: number): void {
    this.#isFull = true;
    this.#isCut = this.#lineStart === 0;
    this.#isInLine = false;
    const length = this.#isCut ? this.#bytesMax : this.#lineStart;
    if (length > this.#length) this.#keep(piece.subarray(from, from + length - this.#length));
    this.#length = length;
  }

  #keep(part: Uint8Array): void {
    if (this.#length === 0) {
      this.#bytes = part;
    } else {
      if (this.#bytes.length < this.#bytesMax) {
        const all = new Uint8Array(this.#bytesMax);
        all.set(this.#bytes);
        this.#bytes = all;
      }
      this.#bytes.set(part, this.#length);
    }
    this.#length += part.length;
  }
}
