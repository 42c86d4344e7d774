// Requests to the file worker, one buffer each, so that one write sends it, and its answers, parsed to the last byte; null is
// an answer that does not parse, which ends the worker. `native/PROTOCOL.md` is the contract.
import type { FileFacts } from "../../core/ports/files.ts";
import { frameHeaderBytes, framePayloadBytesMax, PayloadReader } from "../plan/start/frame.ts";

/** A path for the worker: the number of a tree, and names below it. */
export interface WorkerPath {
  readonly tree: number;
  readonly path: readonly string[];
}

/** Encodes a request for a position that is known only once links are followed. */
export type RequestBytes = (at: WorkerPath) => Buffer;

/** Size of the request number, the tree number and the end of the path. */
const fixedBytes = 9;
/** Status, number and size: the overhead of an answer to a read. */
const readAnswerBytes = 13;
export const pathBytesMax = 4095;

export const readChunkBytesMax: number = framePayloadBytesMax - readAnswerBytes;
export const contentBytesMax: number = framePayloadBytesMax - fixedBytes - 4 - pathBytesMax;

/** Offset of the request number, which is filled in when the request is sent. */
export const numberAt: number = frameHeaderBytes;

export function readRequest(offset: number, bytesMax: number, single: boolean): RequestBytes {
  return (at) => {
    const { bytes, from } = begin("r", at, 13);
    bytes.writeBigUInt64LE(BigInt(offset), from);
    bytes.writeUInt32LE(bytesMax, from + 8);
    bytes[from + 12] = single ? 1 : 0;
    return bytes;
  };
}

export function contentRequest(kind: "w" | "a", mode: number, content: Uint8Array): RequestBytes {
  return (at) => {
    const { bytes, from } = begin(kind, at, 4 + content.length);
    bytes.writeUInt32LE(mode, from);
    bytes.set(content, from + 4);
    return bytes;
  };
}

/** Delete and stat have no argument, list and mkdir one number, walk two. */
export function plainRequest(kind: "d" | "m" | "s" | "l" | "k", ...numbers: readonly number[]): RequestBytes {
  return (at) => {
    const { bytes, from } = begin(kind, at, 4 * numbers.length);
    for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, from + 4 * index);
    return bytes;
  };
}

/** `wanted` contains no zero byte. */
export function findRequest(matchesMax: number, fileBytesMax: number, wanted: Uint8Array): RequestBytes {
  return (at) => {
    const { bytes, from } = begin("f", at, 9 + wanted.length);
    bytes.writeUInt32LE(matchesMax, from);
    bytes.writeUInt32LE(fileBytesMax, from + 4);
    bytes.set(wanted, from + 8);
    bytes[from + 8 + wanted.length] = 0;
    return bytes;
  };
}

function begin(
  kind: string,
  { tree, path }: WorkerPath,
  restBytes: number,
): { readonly bytes: Buffer; readonly from: number } {
  const text = path.length === 1 ? (path[0] as string) : path.join("/");
  const length = Buffer.byteLength(text);
  const payload = fixedBytes + length + restBytes;
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + payload);
  bytes.writeUInt32LE(payload, 0);
  bytes[4] = kind.charCodeAt(0);
  bytes.writeUInt32LE(tree, numberAt + 4);
  bytes.write(text, numberAt + 8);
  bytes[numberAt + 8 + length] = 0;
  return { bytes, from: numberAt + fixedBytes + length };
}

export type Answer =
  | { readonly status: "done"; readonly body: Buffer }
  | { readonly status: "refused"; readonly errno: number; readonly why: string }
  /** The real path; null where it is not UTF-8. */
  | { readonly status: "link"; readonly real: readonly string[] | null };

/** After the request number. */
export function readAnswer(payload: Buffer): Answer | null {
  const body = payload.subarray(5);
  switch (payload[4]) {
    case 0:
      return { status: "done", body };
    case 1: {
      const reader = new PayloadReader(body);
      const errno = reader.u32();
      const why = reader.text();
      if (errno === null || why === null || reader.rest().length > 0) return null;
      return { status: "refused", errno, why: Buffer.from(why).toString("utf8") };
    }
    case 2: {
      const reader = new PayloadReader(body);
      const real = textOf(reader.text());
      return reader.rest().length > 0 ? null : { status: "link", real: real === null ? null : absolute(real) };
    }
    default:
      return null;
  }
}

/** Names that are not UTF-8 have no text form. */
export function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.includes("\uFFFD") && !Buffer.from(text).equals(bytes) ? null : text;
}

function absolute(text: string): readonly string[] | null {
  return text.startsWith("/") ? text.split("/").filter((name) => name !== "") : null;
}

export interface FileChunk {
  readonly size: number;
  readonly bytes: Uint8Array;
}

export function readChunk(body: Buffer): FileChunk | null {
  return body.length < 8 ? null : { size: Number(body.readBigUInt64LE(0)), bytes: body.subarray(8) };
}

export function readNothing(body: Buffer): true | null {
  return body.length === 0 ? true : null;
}

const KINDS: readonly FileFacts["kind"][] = ["file", "folder", "link", "other"];

export function readFacts(body: Buffer): FileFacts | null {
  const reader = new PayloadReader(body);
  const kind = KINDS[reader.u8() ?? -1];
  const [bytes, modified, mode, links] = [reader.u64(), reader.u64(), reader.u32(), reader.u32()];
  if (kind === undefined || bytes === null || modified === null || mode === null || links === null) return null;
  if (reader.rest().length > 0) return null;
  return { kind, bytes: Number(bytes), modifiedMilliseconds: Number(modified), mode, links };
}

/** `path` is null for a name that is not UTF-8. */
export interface ListedEntry {
  readonly path: string | null;
  readonly kind: FileFacts["kind"];
}

export interface BoundedList<T> {
  /** Items were left out: a limit was reached. */
  readonly more: boolean;
  readonly items: readonly T[];
}

export function readEntries(body: Buffer): BoundedList<ListedEntry> | null {
  return readSome(body, (reader) => {
    const kind = KINDS[reader.u8() ?? -1];
    const path = reader.text();
    return kind === undefined || path === null ? null : { path: textOf(path), kind };
  });
}

export interface SearchMatch {
  readonly path: string | null;
  readonly line: number;
  readonly text: string;
}

export function readMatches(body: Buffer): BoundedList<SearchMatch> | null {
  return readSome(body, (reader) => {
    const [path, line, text] = [reader.text(), reader.u32(), reader.text()];
    if (path === null || line === null || text === null) return null;
    return { path: textOf(path), line, text: Buffer.from(text).toString("utf8") };
  });
}

function readSome<T>(body: Buffer, read: (reader: PayloadReader) => T | null): BoundedList<T> | null {
  const reader = new PayloadReader(body);
  const [more, count] = [reader.u8(), reader.u32()];
  if (more === null || count === null || count > body.length) return null;
  const items: T[] = [];
  for (let at = 0; at < count; at++) {
    const item = read(reader);
    if (item === null) return null;
    items.push(item);
  }
  return reader.rest().length > 0 ? null : { more: more !== 0, items };
}

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
