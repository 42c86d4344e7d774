// A public key as text, and the short number by which signatures name it.

/** In the format of signed notes: a name, the key's number, and the key after a byte for its kind. */
const SHAPE = /^(ambit-audit-key)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;

export const KEY_NAME = "ambit-audit-key";

/**
 * Eight hexadecimal digits, or null if it is not a key. Two keys may share a number: a signature is checked with the
 * key.
 */
export function keyNumber(key: string): string | null {
  return SHAPE.exec(key)?.[2] ?? null;
}
