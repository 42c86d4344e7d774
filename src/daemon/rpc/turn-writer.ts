// Writes to a socket: all output of one event-loop turn in one write.
import type { Socket } from "node:net";
import { frameHeader, jsonFrame } from "./frame.ts";

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
