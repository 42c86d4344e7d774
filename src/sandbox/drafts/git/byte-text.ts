// Bytes as text for the parsers of git's files, and the checksum at the end of an index.
import { createHash } from "node:crypto";
import type { ByteText } from "../../plan/drafts/git/index-file.ts";
import { ID_BYTES, type ObjectFormat } from "../../plan/drafts/git/object-id.ts";

export const BYTE_TEXT: ByteText = {
  latin: (bytes, from, to) => bufferOf(bytes).toString("latin1", from, to),
  hex: (bytes, from, to) => bufferOf(bytes).toString("hex", from, to),
};

/** Git can be configured to write zeros instead of a checksum (`index.skipHash`). */
export function isIndexIntact(bytes: Uint8Array, format: ObjectFormat): boolean {
  const end = bytes.length - ID_BYTES[format];
  if (end < 0) return false;
  const written = bytes.subarray(end);
  if (written.every((byte) => byte === 0)) return true;
  return createHash(format).update(bytes.subarray(0, end)).digest().equals(written);
}

/** An index without entries. */
export function emptyIndex(format: ObjectFormat): Uint8Array {
  const header = Buffer.from([...Buffer.from("DIRC"), 0, 0, 0, 2, 0, 0, 0, 0]);
  return Buffer.concat([header, createHash(format).update(header).digest()]);
}

/** For people and for name rules: UTF-8 where it is valid; other bytes as `\xNN`. */
export function pathText(byteString: string): string {
  const bytes = Buffer.from(byteString, "latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return byteString.replace(/[\x80-\xff]/g, (each) => `\\x${each.charCodeAt(0).toString(16)}`);
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
