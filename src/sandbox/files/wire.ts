// Encodes requests to the file worker: one buffer each, so that one write sends it. `native/PROTOCOL.md` is the
// contract.
import { frameHeaderBytes, framePayloadBytesMax } from "../plan/start/frame.ts";

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
