// Output of a connection, with backpressure: a client that does not read is disconnected.
import type { Socket } from "node:net";
import { frameHeader, jsonFrame } from "./frame.ts";
import { outputPendingBytesMax, outputRoomBytes } from "./limits.ts";

export class Outgoing {
  readonly #writer: TurnWriter;
  readonly #cut: () => void;
  readonly #waiting: Set<() => void> = new Set();
  #isOver = false;

  /** `cut` closes the connection of a client that does not read. */
  constructor(socket: Socket, cut: () => void) {
    this.#writer = new TurnWriter(socket);
    this.#cut = cut;
    socket.on("drain", () => this.#wake());
    socket.on("close", () => this.over());
  }

  get pendingBytes(): number {
    return this.#isOver ? 0 : this.#writer.pendingBytes;
  }

  /** Sends a message of `bytes` bytes of UTF-8. False if nothing can be sent any more. */
  json(text: string, bytes: number = Buffer.byteLength(text)): boolean {
    if (!this.#isOpen()) return false;
    this.#writer.json(text, bytes);
    return true;
  }

  frame(frame: Uint8Array): boolean {
    if (!this.#isOpen()) return false;
    this.#writer.frame(frame);
    return true;
  }

  /** Resolves when there is room for more, or when the connection is closed. */
  room(): Promise<void> {
    if (this.pendingBytes <= outputRoomBytes) return Promise.resolve();
    return new Promise((wake) => this.#waiting.add(wake));
  }

  /** Flushes now, for code that closes the socket in this event-loop turn. */
  flush(): void {
    this.#writer.flush();
  }

  over(): void {
    this.#isOver = true;
    this.#wake();
  }

  #isOpen(): boolean {
    // Check backpressure before queueing, so one large response is not treated as a slow client.
    if (!this.#isOver && this.#writer.pendingBytes > outputPendingBytesMax) this.#cut();
    return !this.#isOver;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

export class TurnWriter {
  readonly #socket: Socket;
  /** Frames whose every character is one byte: written as a string, without a buffer. */
  #text = "";
  #isDue = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Queued here, and in the socket. */
  get pendingBytes(): number {
    return this.#text.length + this.#socket.writableLength;
  }

  /** `bytes`: its length as UTF-8. */
  json(text: string, bytes: number): void {
    if (bytes !== text.length) {
      this.frame(jsonFrame(text));
      return;
    }
    this.#text += frameHeader(bytes) + text;
    this.#due();
  }

  frame(frame: Uint8Array): void {
    this.#due();
    if (this.#socket.writableCorked === 0) this.#socket.cork();
    this.#writeText();
    this.#socket.write(frame);
  }

  /** Flushes now, for code that closes the socket in this event-loop turn. */
  flush(): void {
    this.#isDue = false;
    if (this.#socket.destroyed) this.#text = "";
    this.#writeText();
    if (this.#socket.writableCorked > 0) this.#socket.uncork();
  }

  #due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    process.nextTick(flush, this);
  }

  #writeText(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#socket.write(text, "latin1");
  }
}

/** No closure for every turn. */
function flush(writer: TurnWriter): void {
  writer.flush();
}
