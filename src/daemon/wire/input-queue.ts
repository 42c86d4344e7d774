// What is sent along with a question, until somebody takes it.

export class InputQueue implements AsyncIterable<Uint8Array> {
  readonly #taken: (bytes: number) => void;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;
  #waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | null = null;

  /** `taken` is told of every part that somebody took. */
  constructor(taken: (bytes: number) => void) {
    this.#taken = taken;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(part: Uint8Array): void {
    if (this.#isOver || part.length === 0) return;
    const waiting = this.#waiting;
    if (waiting === null) {
      this.#parts.push(part);
      this.#bytes += part.length;
      return;
    }
    this.#waiting = null;
    waiting({ value: part, done: false });
    this.#taken(part.length);
  }

  /** What was pushed before is still given. */
  end(): void {
    this.#isOver = true;
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = null;
  }

  /** Nothing more is given. */
  drop(): void {
    this.#parts = [];
    this.#bytes = 0;
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.drop();
        return { value: undefined, done: true };
      },
    };
  }

  #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const part = this.#parts.shift();
    if (part !== undefined) {
      this.#bytes -= part.length;
      this.#taken(part.length);
      return Promise.resolve({ value: part, done: false });
    }
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    if (this.#waiting !== null) throw new Error("the input of a question is read by one reader");
    return new Promise((give) => {
      this.#waiting = give;
    });
  }
}
