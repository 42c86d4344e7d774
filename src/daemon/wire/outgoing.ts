// The way out of a connection: everything of one turn in one write, and nobody who does not read is waited for.
import type { Socket } from "node:net";
import { outputPendingBytesMax, outputRoomBytes } from "./limits.ts";

export class Outgoing {
  readonly #socket: Socket;
  readonly #cut: () => void;
  readonly #waiting: Set<() => void> = new Set();
  #isOver = false;

  /** `cut` ends the connection of somebody who does not read. */
  constructor(socket: Socket, cut: () => void) {
    this.#socket = socket;
    this.#cut = cut;
    socket.on("drain", () => this.#ring());
    socket.on("close", () => this.over());
  }

  get pendingBytes(): number {
    return this.#isOver ? 0 : this.#socket.writableLength;
  }

  /** False where nothing can be sent any more. */
  write(frame: Uint8Array): boolean {
    if (this.#isOver) return false;
    // Looked at before: one large answer is not what makes somebody slow.
    if (this.#socket.writableLength > outputPendingBytesMax) {
      this.#cut();
      return false;
    }
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(frame);
    return true;
  }

  /** Resolves when there is room for more, or when there will never be any. */
  room(): Promise<void> {
    if (this.#isOver || this.#socket.writableLength <= outputRoomBytes) return Promise.resolve();
    return new Promise((ring) => this.#waiting.add(ring));
  }

  over(): void {
    this.#isOver = true;
    this.#ring();
  }

  #ring(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const ring of waiting) ring();
  }
}
