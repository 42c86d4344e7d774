// Cuts the worker's output into frames. A frame that arrives whole is passed on without a copy; one that arrives in
// parts is copied once, into a buffer of its final size.
import { frameHeaderBytes, framePayloadBytesMax } from "../plan/start/frame.ts";

export type FrameTaker = (kind: number, payload: Buffer) => void;

export class AnswerStream {
  readonly #take: FrameTaker;
  /** A header that has not arrived whole. */
  #header: Buffer | null = null;
  #kind = 0;
  #payload: Buffer | null = null;
  #filled = 0;

  constructor(take: FrameTaker) {
    this.#take = take;
  }

  /** False when the stream violates the protocol. */
  push(arrived: Buffer): boolean {
    let chunk = arrived;
    if (this.#header !== null) {
      chunk = Buffer.concat([this.#header, arrived]);
      this.#header = null;
    }
    let at = this.#fill(chunk);
    while (at < chunk.length) {
      if (chunk.length - at < frameHeaderBytes) {
        this.#header = chunk.subarray(at);
        return true;
      }
      const length = chunk.readUInt32LE(at);
      if (length > framePayloadBytesMax) return false;
      const kind = chunk[at + 4] as number;
      at += frameHeaderBytes;
      if (chunk.length - at < length) {
        this.#kind = kind;
        this.#payload = Buffer.allocUnsafeSlow(length);
        this.#filled = chunk.copy(this.#payload, 0, at);
        return true;
      }
      this.#take(kind, chunk.subarray(at, at + length));
      at += length;
    }
    return true;
  }

  /** Adds to an incomplete payload; returns the offset in the chunk at which it ended. */
  #fill(chunk: Buffer): number {
    const payload = this.#payload;
    if (payload === null) return 0;
    const count = chunk.copy(payload, this.#filled);
    this.#filled += count;
    if (this.#filled === payload.length) {
      this.#payload = null;
      this.#take(this.#kind, payload);
    }
    return count;
  }
}
