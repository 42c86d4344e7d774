// Bytes as text: UTF-8 and base64.

/** Lone surrogates become the replacement character. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Malformed bytes become the replacement character; a leading byte order mark is removed. */
export function utf8Text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

export function utf8Length(text: string): number {
  return utf8Bytes(text).length;
}

/** Arguments of one call of `String.fromCharCode`; the stack limits them. */
const chunkBytes = 8192;

export function base64Text(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  return btoa(binary);
}

/** INVARIANT: the inverse of `base64Text`, and null for every other text: no bytes have two accepted spellings. */
export function base64Bytes(text: string): Uint8Array | null {
  const binary = decoded(text);
  if (binary === null || btoa(binary) !== text) return null;
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function decoded(text: string): string | null {
  try {
    return atob(text);
  } catch {
    return null;
  }
}
