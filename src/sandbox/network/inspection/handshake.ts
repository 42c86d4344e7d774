// Reassembles one TLS handshake message from its records. Bounded; refuses anything ambiguous.

export type HandshakeResult =
  /** Incomplete; retry once the stream has this many bytes. */
  | { readonly kind: "more"; readonly needed: number }
  | { readonly kind: "malformed" }
  /** `body` without its header; `used`: bytes consumed from the stream. */
  | { readonly kind: "message"; readonly type: number; readonly body: Uint8Array; readonly used: number };

const HANDSHAKE = 22;
const recordHeaderBytes = 5;
const recordBytesMax = 16_384;
const messageHeaderBytes = 4;

/** `bytes`: the stream from the start of a record. A message that does not end with its record is refused. */
export function readHandshake(bytes: Uint8Array, bytesMax: number): HandshakeResult {
  const parts: number[] = [];
  let at = 0;
  for (;;) {
    if (bytes[at] !== undefined && bytes[at] !== HANDSHAKE) return { kind: "malformed" };
    if (bytes[at + 1] !== undefined && bytes[at + 1] !== 3) return { kind: "malformed" };
    if (bytes[at + 2] !== undefined && (bytes[at + 2] as number) > 4) return { kind: "malformed" };
    if (at + recordHeaderBytes > bytes.length) return unfinished(at + recordHeaderBytes, bytesMax);
    const length = ((bytes[at + 3] as number) << 8) | (bytes[at + 4] as number);
    // Empty handshake fragments are forbidden, and would keep us busy for nothing.
    if (length === 0 || length > recordBytesMax) return { kind: "malformed" };
    const end = at + recordHeaderBytes + length;
    if (end > bytesMax) return { kind: "malformed" };
    const isWhole = end <= bytes.length;
    for (let place = at + recordHeaderBytes; place < Math.min(end, bytes.length); place++)
      parts.push(bytes[place] as number);
    const size = parts.length < messageHeaderBytes ? null : messageSize(parts);
    if (size !== null && size > bytesMax) return { kind: "malformed" };
    if (!isWhole) return { kind: "more", needed: end };
    if (size !== null && parts.length > size) return { kind: "malformed" };
    if (size !== null && parts.length === size)
      return { kind: "message", type: parts[0] as number, body: new Uint8Array(parts.slice(4)), used: end };
    at = end;
  }
}

function messageSize(parts: readonly number[]): number {
  return messageHeaderBytes + (((parts[1] as number) << 16) | ((parts[2] as number) << 8) | (parts[3] as number));
}

function unfinished(needed: number, bytesMax: number): HandshakeResult {
  return needed > bytesMax ? { kind: "malformed" } : { kind: "more", needed };
}
