// Messages of the daemon's sockets as bytes: a length, a kind, a payload. Numbers are big-endian.
import { bytesFrameBytesMax } from "./limits.ts";

export const frameHeaderBytes = 5;
/** Which exchange, and which of its channels. */
const bytesHeaderBytes = 5;

const KIND = { json: 0, bytes: 1, end: 2 } as const;

export type Frame =
  | { readonly kind: "json"; readonly payload: Uint8Array }
  | { readonly kind: "bytes"; readonly id: number; readonly channel: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly id: number; readonly channel: number };

export function jsonFrame(text: string): Uint8Array {
  const length = Buffer.byteLength(text, "utf8");
  const frame = Buffer.allocUnsafe(frameHeaderBytes + length);
  header(frame, KIND.json, length);
  frame.write(text, frameHeaderBytes, "utf8");
  return frame;
}

/** At most `bytesFrameBytesMax`; whoever has more sends several. */
export function bytesFrame(id: number, channel: number, bytes: Uint8Array): Uint8Array {
  if (bytes.length > bytesFrameBytesMax) throw new RangeError("too many bytes for one frame");
  const frame = Buffer.allocUnsafe(frameHeaderBytes + bytesHeaderBytes + bytes.length);
  header(frame, KIND.bytes, bytesHeaderBytes + bytes.length);
  place(frame, id, channel);
  frame.set(bytes, frameHeaderBytes + bytesHeaderBytes);
  return frame;
}

export function endFrame(id: number, channel: number): Uint8Array {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + bytesHeaderBytes);
  header(frame, KIND.end, bytesHeaderBytes);
  place(frame, id, channel);
  return frame;
}

/** The parts that fit into one frame each. */
export function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += bytesFrameBytesMax) yield bytes.subarray(at, at + bytesFrameBytesMax);
}

function header(frame: Buffer, kind: number, length: number): void {
  frame.writeUInt32BE(length, 0);
  frame[4] = kind;
}

function place(frame: Buffer, id: number, channel: number): void {
  frame.writeUInt32BE(id, frameHeaderBytes);
  frame[frameHeaderBytes + 4] = channel;
}

/** What is wrong with the stream; nothing after it can be understood. */
export type FrameProblem = "too_large" | "malformed";

/** Cuts what arrives into frames. Memory is taken for what has arrived, never for what a header promises. */
export class FrameCutter {
  readonly #jsonBytesMax: number;
  readonly #header: Buffer = Buffer.alloc(frameHeaderBytes);
  #headerFilled = 0;
  #parts: Uint8Array[] = [];
  #missing = 0;
  #length = 0;

  constructor(jsonBytesMax: number) {
    this.#jsonBytesMax = jsonBytesMax;
  }

  /** Of a frame that is not whole yet. */
  get pendingBytes(): number {
    return this.#headerFilled < frameHeaderBytes ? this.#headerFilled : this.#length - this.#missing;
  }

  /** `give` says whether to go on. */
  take(chunk: Uint8Array, give: (frame: Frame) => boolean): FrameProblem | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerFilled < frameHeaderBytes) {
        this.#header[this.#headerFilled++] = chunk[at++] as number;
        if (this.#headerFilled < frameHeaderBytes) continue;
        const problem = this.#begin();
        if (problem !== null) return problem;
      }
      const part = chunk.subarray(at, at + this.#missing);
      if (part.length > 0) this.#parts.push(part);
      at += part.length;
      this.#missing -= part.length;
      if (this.#missing > 0) continue;
      const frame = this.#end();
      if (frame === null) return "malformed";
      if (!give(frame)) return null;
    }
    return null;
  }

  #begin(): FrameProblem | null {
    const length = this.#header.readUInt32BE(0);
    const kind = this.#header[4] as number;
    if (kind > KIND.end) return "malformed";
    if (length > (kind === KIND.json ? this.#jsonBytesMax : bytesHeaderBytes + bytesFrameBytesMax)) return "too_large";
    this.#length = length;
    this.#missing = length;
    return null;
  }

  /** Null where the payload is not what its kind says. */
  #end(): Frame | null {
    const kind = this.#header[4] as number;
    const payload = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#headerFilled = 0;
    this.#length = 0;
    if (kind === KIND.json) return { kind: "json", payload };
    if (payload.length < bytesHeaderBytes) return null;
    const id = new DataView(payload.buffer, payload.byteOffset).getUint32(0);
    const channel = payload[4] as number;
    if (kind === KIND.bytes) return { kind: "bytes", id, channel, bytes: payload.subarray(bytesHeaderBytes) };
    return payload.length === bytesHeaderBytes ? { kind: "end", id, channel } : null;
  }
}
