// How many bytes of command output may be buffered in this process, over all running scripts. Writers wait long before
// (`pipeBytesUsual`); one that finds no room left is stopped.

const roomBytesMax = 134_217_728;

export class BufferBudget {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number = roomBytesMax) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False if there is no room for it: then it is not counted. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#most) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
