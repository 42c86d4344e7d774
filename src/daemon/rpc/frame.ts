// Binary framing of the daemon's sockets: a length, a kind, a payload. Numbers are big-endian.

import { bytesFrameBytesMax } from "./limits.ts";

export const frameHeaderBytes = 5;
/** Exchange id and channel. */
const bytesHeaderBytes = 5;

const EMPTY: Buffer = Buffer.alloc(0);
const KIND = { json: 0, bytes: 1, end: 2 } as const;

export type Frame =
  /** Null if it is not valid UTF-8. */
  | { readonly kind: "json"; readonly text: string | null }
  | { readonly kind: "bytes"; readonly id: number; readonly channel: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly id: number; readonly channel: number };

export function jsonFrame(text: string): Uint8Array {
  const length = Buffer.byteLength(text, "utf8");
  const frame = Buffer.allocUnsafe(frameHeaderBytes + length);
  header(frame, KIND.json, length);
  frame.write(text, frameHeaderBytes, "utf8");
  return frame;
}

/** The header of a JSON frame of that many bytes, one character per byte. */
export function frameHeader(length: number): string {
  return String.fromCharCode(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255, KIND.json);
}

/** At most `bytesFrameBytesMax`; longer data is split into several frames. */
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

/** The chunks that fit into one frame each. */
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

/** A protocol error; nothing after it can be parsed. */
export type FrameProblem = "too_large" | "malformed";

/** Splits a byte stream into frames. Memory is allocated for received bytes, never for what a header announces. */
export class FrameCutter {
  readonly #jsonBytesMax: number;
  /** An incomplete frame, from its first byte on. */
  #pending: Buffer = EMPTY;
  #pendingBytes = 0;
  /** Bytes received after the frame at which the consumer paused. */
  #rest: Buffer = EMPTY;

  constructor(jsonBytesMax: number) {
    this.#jsonBytesMax = jsonBytesMax;
  }

  /** Bytes received and not yet passed to the consumer. */
  get pendingBytes(): number {
    return this.#pendingBytes + this.#rest.length;
  }

  /** Continues after the frame at which the consumer paused. */
  goOn(give: (frame: Frame) => boolean): FrameProblem | null {
    const rest = this.#rest;
    this.#rest = EMPTY;
    return this.take(rest, rest.length, give);
  }

  /** Stores bytes that arrive while the consumer is paused. */
  keepForLater(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
  }

  /**
   * That many bytes arrived in the buffer; `give` returns whether to continue; `goOn` resumes. INVARIANT: nothing references the
   * buffer afterwards: it is reused.
   */
  take(buffer: Buffer, length: number, give: (frame: Frame) => boolean): FrameProblem | null {
    let at = 0;
    for (;;) {
      // Complete frames are parsed in place; only split ones are copied together.
      const isPieces = this.#pendingBytes > 0;
      const bytes = isPieces ? this.#pending : buffer;
      const start = isPieces ? 0 : at;
      const there = isPieces ? this.#pendingBytes : length - at;
      const wanted = this.#wanted(bytes, start, there);
      if (typeof wanted === "string") return wanted;
      if (there < wanted) {
        if (at === length) return null;
        const end = Math.min(length, at + wanted - this.#pendingBytes);
        this.#keep(buffer.subarray(at, end), wanted);
        at = end;
        continue;
      }
      const frame = frameIn(bytes, start, start + wanted, isPieces);
      if (isPieces) this.#drop();
      else at += wanted;
      if (frame === null) return "malformed";
      if (!give(frame)) {
        if (at < length) this.keepForLater(buffer.subarray(at, length));
        return null;
      }
    }
  }

  /** The frame's length, or its header's while that is incomplete. */
  #wanted(bytes: Buffer, start: number, there: number): number | FrameProblem {
    if (there < frameHeaderBytes) return frameHeaderBytes;
    const length = bytes.readUInt32BE(start);
    const kind = bytes[start + 4] as number;
    if (kind > KIND.end) return "malformed";
    if (length > (kind === KIND.json ? this.#jsonBytesMax : bytesHeaderBytes + bytesFrameBytesMax)) return "too_large";
    return frameHeaderBytes + length;
  }

  #keep(part: Buffer, wanted: number): void {
    const filled = this.#pendingBytes + part.length;
    if (filled > this.#pending.length) {
      const before = this.#pending;
      this.#pending = Buffer.allocUnsafeSlow(Math.min(wanted, filled * 2));
      before.copy(this.#pending, 0, 0, this.#pendingBytes);
    }
    part.copy(this.#pending, this.#pendingBytes);
    this.#pendingBytes = filled;
  }

  #drop(): void {
    this.#pending = EMPTY;
    this.#pendingBytes = 0;
  }
}

/** Null if the payload is invalid for its kind. */
function frameIn(bytes: Buffer, start: number, end: number, isOwn: boolean): Frame | null {
  const kind = bytes[start + 4] as number;
  const at = start + frameHeaderBytes;
  if (kind === KIND.json) return { kind: "json", text: utf8Text(bytes, at, end) };
  const length = end - at;
  if (length < bytesHeaderBytes) return null;
  const id = bytes.readUInt32BE(at);
  const channel = bytes[at + 4] as number;
  if (kind === KIND.end) return length === bytesHeaderBytes ? { kind: "end", id, channel } : null;
  const payload = bytes.subarray(at + bytesHeaderBytes, end);
  return { kind: "bytes", id, channel, bytes: isOwn ? payload : Buffer.from(payload) };
}

/** The replacement character: an invalid byte decodes to it, but the text may also contain it. */
const REPLACEMENT = "\ufffd";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8Text(bytes: Buffer, start: number, end: number): string | null {
  const text = bytes.toString("utf8", start, end);
  if (!text.includes(REPLACEMENT)) return text;
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return null;
  }
}
