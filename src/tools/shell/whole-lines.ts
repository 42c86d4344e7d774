// Two streams with one destination arrive separately: each is passed on in whole lines, so that no line of one splits a
// line of the other.

/** A longer line is passed on in pieces. */
const heldBytesMax = 65_536;
const lineEnd = 10;

export class WholeLines {
  readonly #pass: (bytes: Uint8Array) => void | Promise<void>;
  #held: Uint8Array[] = [];
  #bytes = 0;

  constructor(pass: (bytes: Uint8Array) => void | Promise<void>) {
    this.#pass = pass;
  }

  /** A promise is the backpressure of the destination that both streams share. */
  write(bytes: Uint8Array): void | Promise<void> {
    const end = bytes.lastIndexOf(lineEnd) + 1;
    this.#hold(bytes.subarray(0, end));
    const ready = end > 0 ? this.end() : undefined;
    this.#hold(bytes.subarray(end));
    // Where both calls return a promise, it is that of the same destination.
    return this.#bytes > heldBytesMax ? (this.end() ?? ready) : ready;
  }

  /** Passes on the incomplete rest. */
  end(): void | Promise<void> {
    const held = this.#held.splice(0);
    this.#bytes = 0;
    if (held.length > 0) return this.#pass(held.length === 1 ? (held[0] as Uint8Array) : Buffer.concat(held));
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#bytes += bytes.length;
  }
}
