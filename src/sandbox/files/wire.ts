// Requests to the file worker as bytes: one buffer each, so that one write carries it. `native/PROTOCOL.md` is the contract.
import { frameHeaderBytes, framePayloadBytesMax } from "../plan/start/frame.ts";

/** Where something lies for the worker: a tree by its number, and names below it. */
export interface WorkerPlace {
  readonly tree: number;
  readonly path: readonly string[];
}

/** Builds the bytes for a place that is only known once links are followed. */
export type RequestBytes = (at: WorkerPlace) => Buffer;

/** The worker's number, tree and the path's end: what stands before the rest of a request, without the path itself. */
const fixedBytes = 9;
/** Status, number and size: what an answer to a read has besides the bytes. */
const readAnswerBytes = 13;
export const pathBytesMax = 4095;

export const readChunkBytesMax: number = framePayloadBytesMax - readAnswerBytes;
export const contentBytesMax: number = framePayloadBytesMax - fixedBytes - 4 - pathBytesMax;

/** Where in a request its number stands; it is put in when it is sent. */
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

/** Delete and stat ask nothing more, a list and a new folder one number, a walk two. */
export function plainRequest(kind: "d" | "m" | "s" | "l" | "k", ...numbers: readonly number[]): RequestBytes {
  return (at) => {
    const { bytes, from } = begin(kind, at, 4 * numbers.length);
    for (const [place, number] of numbers.entries()) bytes.writeUInt32LE(number, from + 4 * place);
    return bytes;
  };
}

/** `wanted` holds no zero byte. */
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
  { tree, path }: WorkerPlace,
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
