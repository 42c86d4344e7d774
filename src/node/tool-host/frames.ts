// Messages between a tool host and the daemon that started it: four bytes of length, then JSON. What is longer than it may
// be, or is no JSON, ends the conversation. Every byte is copied at most twice, however small the messages are.

/** A use with the largest file in it still fits. */
export const frameBytesMax = 33_554_432;
const headBytes = 4;

/** Null for what is too long to be said. */
export function toolFrame(message: object): Buffer | null {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  if (body.length > frameBytesMax) return null;
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

/** `none`: no further message is whole. `broken`: what came is no message, and nothing that follows can be one. */
export type NextMessage =
  | { readonly kind: "message"; readonly message: unknown }
  | { readonly kind: "none" }
  | { readonly kind: "broken" };

const NONE: NextMessage = { kind: "none" };
const BROKEN: NextMessage = { kind: "broken" };

export class ToolFrames {
  /** What was joined or came whole, of which the part before `#at` is cut already. */
  #joined: Buffer = Buffer.alloc(0);
  #at = 0;
  /** What came after it. */
  #pieces: Uint8Array[] = [];
  #piecesLength = 0;

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#pieces.push(chunk);
    this.#piecesLength += chunk.length;
  }

  /** One message at a time, so that the caller decides when to go on. */
  next(): NextMessage {
    const head = this.#has(headBytes);
    if (!head) return NONE;
    const length = this.#joined.readUInt32LE(this.#at);
    if (length > frameBytesMax) return BROKEN;
    if (!this.#has(headBytes + length)) return NONE;
    const start = this.#at + headBytes;
    this.#at = start + length;
    try {
      return { kind: "message", message: JSON.parse(this.#joined.toString("utf8", start, this.#at)) };
    } catch {
      return BROKEN;
    }
  }

  /** The messages that are whole by now; null where what came is none. */
  take(chunk: Uint8Array): readonly unknown[] | null {
    this.add(chunk);
    const messages: unknown[] = [];
    for (;;) {
      const next = this.next();
      if (next.kind === "broken") return null;
      if (next.kind === "none") return messages;
      messages.push(next.message);
    }
  }

  /** Whether so many bytes are there; then they lie in one piece. */
  #has(bytes: number): boolean {
    const left = this.#joined.length - this.#at;
    if (left >= bytes) return true;
    if (left + this.#piecesLength < bytes) return false;
    this.#joined = Buffer.concat([this.#joined.subarray(this.#at), ...this.#pieces]);
    this.#at = 0;
    this.#pieces = [];
    this.#piecesLength = 0;
    return true;
  }
}
