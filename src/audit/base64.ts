// Base64 of bytes and back, with one spelling for each: what is signed must not be writable in two ways.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const group = (first << 16) | (second << 8) | third;
    const digits = Math.min(4, bytes.length - at + 1);
    for (let digit = 0; digit < 4; digit++)
      text += digit < digits ? DIGITS.charAt((group >> (18 - 6 * digit)) & 63) : "=";
  }
  return text;
}

/** Null for everything that `base64Of` does not write. */
export function bytesOfBase64(text: string): Uint8Array | null {
  const match = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(text);
  if (match === null || text.length % 4 !== 0) return null;
  const bytes = new Uint8Array((text.length / 4) * 3 - (match[2] as string).length);
  let written = 0;
  for (let at = 0; at < text.length; at += 4) {
    let group = 0;
    for (let digit = 0; digit < 4; digit++) group = (group << 6) | Math.max(0, DIGITS.indexOf(text.charAt(at + digit)));
    for (let shift = 16; shift >= 0 && written < bytes.length; shift -= 8) bytes[written++] = (group >> shift) & 255;
  }
  // Bits that no byte needs would be a second spelling.
  return base64Of(bytes) === text ? bytes : null;
}

export function hexadecimalOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Of an even number of digits; the caller knows that they are digits. */
export function bytesOfHexadecimal(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}
