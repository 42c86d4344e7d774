// A window of lines from a file that arrives in chunks: from one line on, a number of lines, limited in bytes.

const NEWLINE = 10;

const NOTHING = new Uint8Array(0);

export class LineWindow {
  readonly #offset: number;
  readonly #limit: number;
  readonly #bytesMax: number;
  /** A view of the first chunk; with a second one, a copy of as much as fits. */
  #bytes: Uint8Array = NOTHING;
  #length = 0;
  /** Where in the stored bytes the current line begins. */
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

  /** False once the window is complete: then there is more after it. A chunk must not change while the window is in use. */
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

  /** The only line was longer than fits; its rest is left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Complete lines from the beginning of the file; the last one may have no line end. */
  get passed(): number {
    return this.#line + (this.#isCut || this.#isInLine ? 1 : 0);
  }

  /** The current line does not fit: it is left to the next read. The first line is cut, or no read would ever pass it. */
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
