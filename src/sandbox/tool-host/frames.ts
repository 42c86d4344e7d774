// Messages between a tool host and the daemon: four bytes of length, then JSON. A message that is too long or not JSON
// is a protocol error. Every byte is copied at most twice, however small the messages. A long message is measured while
// it arrives: many values take seconds to parse and to check, a long text does not.
import { JsonMeter } from "../../core/base/json-meter.ts";

/** A call with the largest file in it still fits. */
export const frameBytesMax = 33_554_432;
/** A longer answer of a tool does not fit into one message of the call socket, unless it is text. */
export const frameValuesMax = 262_144;
/** A message of this length cannot have more values. */
const unmeasuredBytesMax: number = frameValuesMax;
/** Shorter parts are not measured separately: a message may arrive byte by byte. */
const measuredBytesMin = 32_768;
const headBytes = 4;
const blockBytesMax = 1_048_576;

/** Null for a message that is too long. */
export function toolFrame(message: object): Buffer | null {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  if (body.length > frameBytesMax) return null;
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

/** `none`: no further complete message. `broken`: a protocol error, after which nothing can be parsed. */
export type NextMessage =
  | { readonly kind: "message"; readonly message: unknown }
  | { readonly kind: "none" }
  | { readonly kind: "broken" };

const NONE: NextMessage = { kind: "none" };
const BROKEN: NextMessage = { kind: "broken" };

export class ToolFrames {
  /** Contiguous bytes, of which those before `#at` are consumed. */
  #joined: Buffer = Buffer.alloc(0);
  #at = 0;
  /** The bytes after it, in few blocks however small the chunks are. All but the last are full. */
  #blocks: Buffer[] = [];
  #blocksLength = 0;
  /** Free bytes of the last block. */
  #free = 0;
  /** Of a long incomplete message: the number of values, and of measured bytes. */
  #meter: { readonly meter: JsonMeter; bytes: number } | null = null;

  /** Copies the chunk. */
  add(chunk: Uint8Array): void {
    const last = this.#blocks.at(-1);
    const fitting = Math.min(this.#free, chunk.length);
    last?.set(chunk.subarray(0, fitting), last.length - this.#free);
    this.#free -= fitting;
    const rest = chunk.subarray(fitting);
    if (rest.length > 0) {
      // Doubled, so that a long message has few blocks and a short one takes little memory.
      const block = Buffer.allocUnsafeSlow(Math.max(rest.length, Math.min(this.#blocksLength, blockBytesMax)));
      block.set(rest);
      this.#blocks.push(block);
      this.#free = block.length - rest.length;
    }
    this.#blocksLength += chunk.length;
  }

  /** One message at a time, so that the caller decides when to continue. */
  next(): NextMessage {
    const head = this.#has(headBytes);
    if (!head) return NONE;
    const length = this.#joined.readUInt32LE(this.#at);
    if (length > frameBytesMax || !this.#isParsable(length)) return BROKEN;
    if (!this.#has(headBytes + length)) return NONE;
    this.#meter = null;
    const start = this.#at + headBytes;
    this.#at = start + length;
    try {
      return { kind: "message", message: JSON.parse(this.#joined.toString("utf8", start, this.#at)) };
    } catch {
      return BROKEN;
    }
  }

  /** Of the message at `#at`: false once the received part has too many values. */
  #isParsable(length: number): boolean {
    if (length <= unmeasuredBytesMax) return true;
    this.#meter ??= { meter: new JsonMeter(frameValuesMax), bytes: 0 };
    const arrived = Math.min(length, this.#joined.length - this.#at - headBytes + this.#blocksLength);
    if (arrived < length && arrived - this.#meter.bytes < measuredBytesMin) return true;
    let skipped = this.#meter.bytes;
    for (const piece of [this.#joined.subarray(this.#at + headBytes), ...this.#arrived()]) {
      const fresh = piece.subarray(skipped, skipped + length - this.#meter.bytes);
      skipped = Math.max(0, skipped - piece.length);
      this.#meter.bytes += fresh.length;
      if (!this.#meter.meter.take(fresh)) return false;
    }
    return true;
  }

  /** The complete messages so far; null after a protocol error. */
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

  /** Whether so many bytes are available; they are contiguous then. */
  #has(bytes: number): boolean {
    const left = this.#joined.length - this.#at;
    if (left >= bytes) return true;
    if (left + this.#blocksLength < bytes) return false;
    this.#joined = Buffer.concat([this.#joined.subarray(this.#at), ...this.#arrived()]);
    this.#at = 0;
    this.#blocks = [];
    this.#blocksLength = 0;
    this.#free = 0;
    return true;
  }

  /** The blocks without the free bytes of the last. */
  #arrived(): readonly Buffer[] {
    const last = this.#blocks.at(-1);
    if (last === undefined || this.#free === 0) return this.#blocks;
    return [...this.#blocks.slice(0, -1), last.subarray(0, last.length - this.#free)];
  }
}
