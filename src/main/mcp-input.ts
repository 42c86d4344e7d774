// Reads the client's input from a pipe or a socket into one reused buffer.
import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

const readBytesMax = 65_536;

/** INVARIANT: the callback keeps copies only, never the chunk itself. */
export function standardInput(take: (chunk: Buffer) => void): Readable {
  if (!isStream(0)) return process.stdin.on("data", take);
  const buffer = Buffer.alloc(readBytesMax);
  const callback = (length: number): boolean => {
    take(buffer.subarray(0, length));
    return true;
  };
  const reading = { fd: 0, readable: true, writable: false, onread: { buffer, callback } };
  return new Socket(reading);
}

function isStream(descriptor: number): boolean {
  try {
    const found = fstatSync(descriptor);
    return found.isFIFO() || found.isSocket();
  } catch {
    return false;
  }
}
