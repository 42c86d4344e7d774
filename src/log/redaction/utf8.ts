// Lossless UTF-8: lone surrogates are kept as three bytes, so that text without a secret is unchanged.

export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      bytes[length++] = unit;
      continue;
    }
    const point = text.codePointAt(at) as number;
    if (point > 0xffff) at++;
    if (point < 0x800) bytes[length++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[length++] = 0xe0 | (point >> 12);
      else {
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 63);
      }
      bytes[length++] = 0x80 | ((point >> 6) & 63);
    }
    bytes[length++] = 0x80 | (point & 63);
  }
  return bytes.subarray(0, length);
}

const REPLACEMENT = 0xfffd;
const unitsAtOnce = 4096;

/** Invalid bytes become the replacement character. */
export function textOf(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let units: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { point, length } = pointAt(bytes, at);
    at += length;
    if (point > 0xffff) units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    else units.push(point < 0 ? REPLACEMENT : point);
    if (units.length < unitsAtOnce) continue;
    pieces.push(String.fromCharCode(...units));
    units = [];
  }
  pieces.push(String.fromCharCode(...units));
  return pieces.join("");
}

/** Code points; null if the bytes are not text. */
export function charactersOf(bytes: Uint8Array): readonly number[] | null {
  const points: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { point, length } = pointAt(bytes, at);
    if (point < 0) return null;
    points.push(point);
    at += length;
  }
  return points;
}

interface Point {
  /** Negative: these bytes are not a character. */
  readonly point: number;
  readonly length: number;
}

const NONE: Point = { point: -1, length: 1 };

function pointAt(bytes: Uint8Array, at: number): Point {
  const first = bytes[at] as number;
  if (first < 0x80) return { point: first, length: 1 };
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return NONE;
  let point = first & (0xff >> (length + 1));
  for (let next = 1; next < length; next++) {
    const byte = bytes[at + next] as number;
    if ((byte & 0xc0) !== 0x80) return NONE;
    point = (point << 6) | (byte & 63);
  }
  const isShortest = length === 2 || point >= (length === 3 ? 0x800 : 0x10000);
  return isShortest && point <= 0x10ffff ? { point, length } : NONE;
}
