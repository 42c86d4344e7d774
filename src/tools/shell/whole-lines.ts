// Two streams that go to one place arrive apart from each other: each is passed on in whole lines, so that no line of one
// stands in the middle of a line of the other.

/** A longer line is passed on in pieces. */
const heldBytesMax = 65_536;
const lineEnd = 10;

export class WholeLines {
  readonly #pass: (bytes: Uint8Array) => void;
  #held: Uint8Array[] = [];
  #bytes = 0;

  constructor(pass: (bytes: Uint8Array) => void) {
    this.#pass = pass;
  }

  write(bytes: Uint8Array): void {
    const end = bytes.lastIndexOf(lineEnd) + 1;
    if (end > 0) {
      this.#hold(bytes.subarray(0, end));
      this.end();
    }
    this.#hold(bytes.subarray(end));
    if (this.#bytes > heldBytesMax) this.end();
  }

  /** What is left is passed on as it is. */
  end(): void {
    const held = this.#held.splice(0);
    this.#bytes = 0;
    if (held.length > 0) this.#pass(held.length === 1 ? (held[0] as Uint8Array) : Buffer.concat(held));
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#bytes += bytes.length;
  }
}
