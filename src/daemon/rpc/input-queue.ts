// Queued input of a request, until its handler reads it.
import { Fifo } from "../../core/base/fifo.ts";

/** Small chunks are copied into blocks of this size, so that the counted memory is the memory used. */
const blockBytes = 4096;

export class InputQueue implements AsyncIterable<Uint8Array> {
  readonly #taken: (bytes: number) => void;
  readonly #parts = new Fifo<Uint8Array>();
  /** The block of the last chunk, if it has room for more. */
  #block: { readonly bytes: Uint8Array; used: number } | null = null;
  #bytes = 0;
  #isOver = false;
  #waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | null = null;

  /** `taken` is called for every chunk that is read. */
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
      this.#add(part);
      this.#bytes += part.length;
      return;
    }
    this.#waiting = null;
    waiting({ value: part, done: false });
    this.#taken(part.length);
  }

  /** Chunks pushed before are still delivered. */
  end(): void {
    this.#isOver = true;
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = null;
  }

  /** Delivers nothing more. */
  drop(): void {
    this.#parts.clear();
    this.#block = null;
    this.#bytes = 0;
    this.end();
  }

  #add(part: Uint8Array): void {
    if (part.length > blockBytes / 2) {
      this.#block = null;
      this.#parts.push(part);
      return;
    }
    const isFull = this.#block === null || this.#block.used + part.length > blockBytes;
    const block = isFull || this.#block === null ? { bytes: new Uint8Array(blockBytes), used: 0 } : this.#block;
    this.#block = block;
    block.bytes.set(part, block.used);
    block.used += part.length;
    const joined = block.bytes.subarray(0, block.used);
    if (isFull) this.#parts.push(joined);
    else this.#parts.replaceLast(joined);
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
    const part = this.#parts.take();
    if (part !== undefined) {
      if (this.#parts.length === 0) this.#block = null;
      this.#bytes -= part.length;
      this.#taken(part.length);
      return Promise.resolve({ value: part, done: false });
    }
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    if (this.#waiting !== null) throw new Error("the input of a request can have only one reader");
    return new Promise((give) => {
      this.#waiting = give;
    });
  }
}
