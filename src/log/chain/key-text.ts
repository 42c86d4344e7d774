// A public key as text, and the short number signatures name it by.

/** As the notes' format has it: a name, the key's number, and the key behind a byte for its kind. */
const SHAPE = /^(ambit-audit-key)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;

export const KEY_NAME = "ambit-audit-key";

/** Eight hexadecimal digits, or null for what is no key. Two keys may share a number: a signature is checked by the key. */
export function keyNumber(key: string): string | null {
  return SHAPE.exec(key)?.[2] ?? null;
}
