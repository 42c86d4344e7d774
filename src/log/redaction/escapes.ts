// Decodes escapes of URLs, strings and HTML one at a time, in any case and any mixture.

export interface DecodedEscape {
  readonly point: number;
  /** One byte, or a character of several bytes. */
  readonly isByte: boolean;
  readonly length: number;
}

/** Null if no escape begins here. */
export function escapeAt(bytes: Uint8Array, at: number): DecodedEscape | null {
  switch (bytes[at]) {
    case 0x25:
      return percentAt(bytes, at);
    case 0x3d:
      return quotedAt(bytes, at);
    case 0x5c:
      return backslashAt(bytes, at);
    case 0x26:
      return entityAt(bytes, at);
    default:
      return null;
  }
}

export function isEscapeStart(byte: number): boolean {
  return byte === 0x25 || byte === 0x3d || byte === 0x5c || byte === 0x26;
}

/** The most bytes that are looked at to read one escape. */
const escapeBytesMax = 24;

/** Whether the bytes decide which escape begins here, if any: more of them would not change the answer. */
export function isCompleteEscape(bytes: Uint8Array, at: number): boolean {
  const isPart = PARTS.get(bytes[at] as number);
  if (isPart === undefined || bytes.length - at >= escapeBytesMax) return true;
  for (let next = at + 1; next < bytes.length; next++) if (!isPart(bytes[next] as number, next - at)) return true;
  return false;
}

/** For each first byte of an escape: whether a byte at an offset from it may belong to an escape. */
const PARTS: ReadonlyMap<number, (byte: number, offset: number) => boolean> = new Map([
  [0x25, (byte) => hexDigit(byte) >= 0],
  [0x3d, (byte, offset) => offset < 3 && (hexDigit(byte) >= 0 || byte === 0x0d)],
  [0x5c, (byte, offset) => (offset === 1 ? byte === 0x75 || byte === 0x78 : offset < 6 && hexDigit(byte) >= 0)],
  [0x26, (byte) => byte === 0x23 || isWord(byte)],
]);

/** Length of a soft line break of quoted-printable; zero if there is none. */
export function softBreakAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0x3d) return 0;
  if (bytes[at + 1] === 0x0a) return 2;
  return bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a ? 3 : 0;
}

const timesMax = 8;

/** `%73`, and the doubly encoded `%2573`. */
function percentAt(bytes: Uint8Array, at: number): DecodedEscape | null {
  let digits = at + 1;
  for (let times = 0; times < timesMax; times++) {
    if (bytes[digits] !== 0x32 || bytes[digits + 1] !== 0x35 || hexAt(bytes, digits + 2, 2) === null) break;
    digits += 2;
  }
  const point = hexAt(bytes, digits, 2);
  return point === null ? null : { point, isByte: true, length: digits + 2 - at };
}

/** `=3D`, as in quoted-printable. */
function quotedAt(bytes: Uint8Array, at: number): DecodedEscape | null {
  const point = hexAt(bytes, at + 1, 2);
  return point === null ? null : { point, isByte: true, length: 3 };
}

const LETTERS: ReadonlyMap<number, number> = new Map([
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x62, 0x08],
  [0x66, 0x0c],
]);

function backslashAt(bytes: Uint8Array, at: number): DecodedEscape | null {
  const next = bytes[at + 1];
  if (next === undefined) return null;
  if (next === 0x78 || next === 0x75) {
    const count = next === 0x78 ? 2 : 4;
    const point = hexAt(bytes, at + 2, count);
    return point === null ? null : { point, isByte: next === 0x78, length: count + 2 };
  }
  const letter = LETTERS.get(next);
  if (letter !== undefined) return { point: letter, isByte: true, length: 2 };
  const isMark = next > 0x20 && next < 0x7f && !isWord(next);
  return isMark ? { point: next, isByte: true, length: 2 } : null;
}

const NAMES: readonly (readonly [string, number])[] = [
  ["amp;", 0x26],
  ["lt;", 0x3c],
  ["gt;", 0x3e],
  ["quot;", 0x22],
  ["apos;", 0x27],
];
const entityDigitsMax = 10;

function entityAt(bytes: Uint8Array, at: number): DecodedEscape | null {
  if (bytes[at + 1] !== 0x23) {
    for (const [name, point] of NAMES) {
      let same = 0;
      while (same < name.length && bytes[at + 1 + same] === name.charCodeAt(same)) same++;
      if (same === name.length) return { point, isByte: true, length: name.length + 1 };
    }
    return null;
  }
  const isHex = bytes[at + 2] === 0x78 || bytes[at + 2] === 0x58;
  const first = at + (isHex ? 3 : 2);
  let point = 0;
  let digit = first;
  for (; digit < first + entityDigitsMax; digit++) {
    const value = hexDigit(bytes[digit] ?? 0);
    if (value < 0 || (!isHex && value > 9)) break;
    point = point * (isHex ? 16 : 10) + value;
  }
  if (digit === first || bytes[digit] !== 0x3b || point > 0x10ffff) return null;
  return { point, isByte: point < 0x80, length: digit + 1 - at };
}

function hexAt(bytes: Uint8Array, at: number, count: number): number | null {
  let value = 0;
  for (let digit = at; digit < at + count; digit++) {
    const one = hexDigit(bytes[digit] ?? 0);
    if (one < 0) return null;
    value = value * 16 + one;
  }
  return value;
}

/** Negative if it is not a digit. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function isWord(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
}
