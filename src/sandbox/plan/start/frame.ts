// Frames between us and the native program: a length, a kind, a payload. Numbers are little-endian.
// `native/PROTOCOL.md` is the contract for both sides.

/** The longest payload either side accepts. */
export const framePayloadBytesMax = 1_048_576;
export const frameHeaderBytes = 5;

export interface Frame {
  readonly kind: string;
  readonly payload: Uint8Array;
}

/** One character as the kind; the length counts the payload alone. */
export function frameOf(kind: string, payload: Uint8Array): Uint8Array {
  if (kind.length !== 1 || payload.length > framePayloadBytesMax) throw new RangeError("not a frame");
  const bytes = new Uint8Array(frameHeaderBytes + payload.length);
  new DataView(bytes.buffer).setUint32(0, payload.length, true);
  bytes[4] = kind.charCodeAt(0);
  bytes.set(payload, frameHeaderBytes);
  return bytes;
}

/** Builds a payload; strings are bytes already, because a Linux path is bytes. */
export class PayloadWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  /** Terminated by a zero byte, which it therefore cannot contain. */
  text(bytes: Uint8Array): this {
    if (bytes.includes(0)) throw new RangeError("a text with a NUL byte");
    return this.bytes(bytes).u8(0);
  }

  u8(value: number): this {
    return this.#number(1, (view) => view.setUint8(0, value));
  }

  u16(value: number): this {
    return this.#number(2, (view) => view.setUint16(0, value, true));
  }

  u32(value: number): this {
    return this.#number(4, (view) => view.setUint32(0, value, true));
  }

  u64(value: bigint): this {
    return this.#number(8, (view) => view.setBigUint64(0, value, true));
  }

  done(): Uint8Array {
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  #number(size: number, set: (view: DataView) => void): this {
    const bytes = new Uint8Array(size);
    set(new DataView(bytes.buffer));
    return this.bytes(bytes);
  }
}

/** Reads a payload from its start; null past the end, and for everything after that. */
export class PayloadReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number | null {
    return this.#read(1, (at) => this.#view.getUint8(at));
  }

  u32(): number | null {
    return this.#read(4, (at) => this.#view.getUint32(at, true));
  }

  i32(): number | null {
    return this.#read(4, (at) => this.#view.getInt32(at, true));
  }

  u64(): bigint | null {
    return this.#read(8, (at) => this.#view.getBigUint64(at, true));
  }

  /** Up to the next zero byte. */
  text(): Uint8Array | null {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) return this.#read(this.#bytes.length + 1, () => null);
    const text = this.#bytes.subarray(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Everything was read, or more was read than there was. */
  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  rest(): Uint8Array {
    const rest = this.#bytes.subarray(Math.min(this.#at, this.#bytes.length));
    this.#at = this.#bytes.length;
    return rest;
  }

  #read<T>(size: number, get: (at: number) => T): T | null {
    const at = this.#at;
    this.#at = at + size;
    return this.#at > this.#bytes.length ? null : get(at);
  }
}

/** Splits a stream into frames. A length beyond the limit is a protocol error. */
export class FrameCutter {
  #held: Uint8Array = new Uint8Array(0);

  /** The complete frames so far, or null after a protocol error. */
  push(chunk: Uint8Array): readonly Frame[] | null {
    const all = this.#held.length === 0 ? chunk : joined(this.#held, chunk);
    const frames: Frame[] = [];
    let at = 0;
    while (all.length - at >= frameHeaderBytes) {
      const length = new DataView(all.buffer, all.byteOffset + at, 4).getUint32(0, true);
      if (length > framePayloadBytesMax) return null;
      const end = at + frameHeaderBytes + length;
      if (end > all.length) break;
      frames.push({
        kind: String.fromCharCode(all[at + 4] as number),
        payload: all.subarray(at + frameHeaderBytes, end),
      });
      at = end;
    }
    this.#held = all.subarray(at);
    return frames;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
