// How much of what commands wrote may wait in this process, over all scripts that run: nobody can slow a command down, so
// a command that writes faster than it is read is stopped when the room is full.

const roomBytesMax = 134_217_728;

export class WaitingRoom {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number = roomBytesMax) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False where there is no room for it: then it is not counted. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#most) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}
