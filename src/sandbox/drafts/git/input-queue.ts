// A queue for the input of a running program, filled while the program reads it.

export class InputQueue implements AsyncIterable<Uint8Array> {
  readonly #pieces: Uint8Array[] = [];
  #isClosed = false;
  #wake: () => void = () => {};

  /** A byte string. */
  push(text: string): void {
    this.#pieces.push(Buffer.from(text, "latin1"));
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.#pieces.shift();
      if (next !== undefined) yield next;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
