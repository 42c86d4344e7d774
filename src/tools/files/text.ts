// Decodes bytes of a file. Bytes that are not UTF-8 are never written back changed.
import { isUtf8 } from "node:buffer";

/** A NUL near the beginning: text has none. */
const lookedBytes = 8_192;

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, lookedBytes).includes(0);
}

/** Null if it is not UTF-8. A byte order mark is kept as a character. */
export function exactText(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? utf8(bytes) : null;
}

/** For reading: replacement characters for invalid bytes, and none for a character that was cut at the end. */
export function displayText(bytes: Uint8Array, isCut: boolean): { readonly text: string; readonly isExact: boolean } {
  if (isUtf8(bytes)) return { text: utf8(bytes), isExact: true };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  return { text, isExact: isCut && !text.includes("\uFFFD") };
}

function utf8({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}
