// Bytes as base64 and back, with one spelling for each. Written out, because a pure room has no encoder.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODES: readonly number[] = Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const VALUES: Int8Array = new Int8Array(128).fill(-1);
for (const [value, code] of CODES.entries()) VALUES[code] = value;

const PADDING = 61;
const chunkUnits = 8192;

export function base64Text(bytes: Uint8Array): string {
  const parts: string[] = [];
  let units: number[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const first = bytes[at] as number;
    const second = left > 1 ? (bytes[at + 1] as number) : 0;
    const third = left > 2 ? (bytes[at + 2] as number) : 0;
    units.push(
      CODES[first >> 2] as number,
      CODES[((first & 3) << 4) | (second >> 4)] as number,
      left > 1 ? (CODES[((second & 15) << 2) | (third >> 6)] as number) : PADDING,
      left > 2 ? (CODES[third & 63] as number) : PADDING,
    );
    if (units.length >= chunkUnits) {
      parts.push(String.fromCharCode(...units));
      units = [];
    }
  }
  parts.push(String.fromCharCode(...units));
  return parts.join("");
}

/** Null for everything that `base64Text` does not write. */
export function base64Bytes(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const digits = text.length - padding;
  let held = 0;
  let bits = 0;
  let length = 0;
  for (let at = 0; at < digits; at++) {
    const code = text.charCodeAt(at);
    const value = code < 128 ? (VALUES[code] as number) : -1;
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (held >> bits) & 255;
  }
  // Bits that no byte needs would be a second spelling.
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}
