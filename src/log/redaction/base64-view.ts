// Decodes whatever reads as base64: either alphabet, wrapped at any width, at each of the four alignments.
import { blankAt, type ViewScan } from "./view-scan.ts";

const NONE = 255;
const VALUES: Uint8Array = new Uint8Array(256).fill(NONE);
for (const [at, unit] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
  VALUES[unit.charCodeAt(0)] = at;
VALUES["-".charCodeAt(0)] = 62;
VALUES["_".charCodeAt(0)] = 63;

/** One scan for each of the four alignments. Ordinary words are read as well: they decode to noise. */
export function readBase64(bytes: Uint8Array, scans: readonly ViewScan[]): void {
  let digits = 0;
  let lastAt = 0;
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while (end < bytes.length && VALUES[bytes[end] as number] !== NONE) end++;
    if (end > at) {
      digits = decode(bytes, at, end, scans, digits, lastAt);
      lastAt = end - 1;
      at = end;
      continue;
    }
    const blank = blankAt(bytes, at);
    if (blank === 0 && digits > 0) {
      digits = 0;
      for (const scan of scans) scan.cut();
    }
    at += Math.max(1, blank);
  }
}

/** Returns the number of digits. */
function decode(
  bytes: Uint8Array,
  start: number,
  end: number,
  scans: readonly ViewScan[],
  before: number,
  beforeAt: number,
): number {
  for (let place = 0; place < 4; place++) {
    const scan = scans[place] as ViewScan;
    let digits = before;
    let lastAt = beforeAt;
    let last = VALUES[bytes[lastAt] as number] as number;
    for (let at = start; at < end; at++, digits++) {
      const value = VALUES[bytes[at] as number] as number;
      const within = (digits - place) & 3;
      // The previous digit and this one together hold one byte, except for the first of four.
      if (within !== 0 && digits > place) {
        const shift = within * 2;
        scan.push(((last << shift) | (value >> (6 - shift))) & 255, lastAt, at + 1);
      }
      last = value;
      lastAt = at;
    }
  }
  return before + end - start;
}
