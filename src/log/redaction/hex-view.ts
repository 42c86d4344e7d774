// Decodes whatever reads as hexadecimal: contiguous or with separators, or as dumps of xxd, hexdump and od.
import { hexDigit } from "./escapes.ts";
import { blankAt, type ViewScan } from "./view-scan.ts";

const offsetDigitsMin = 4;
const offsetDigitsMax = 16;

/** The columns of a dump's line that hold the bytes. */
interface Columns {
  readonly start: number;
  readonly end: number;
}

/** Reads pairs from an even and from an odd offset, because the alignment is unknown. */
export class HexView {
  readonly #scans: readonly [ViewScan, ViewScan];
  #digits = 0;
  #last = 0;
  #lastAt = 0;

  constructor(scans: readonly [ViewScan, ViewScan]) {
    this.#scans = scans;
  }

  read(bytes: Uint8Array): void {
    this.#cut();
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(0x0a, start);
      const end = newline < 0 ? bytes.length : newline;
      const columns = dumpColumns(bytes, start, end);
      // A line of a dump repeats the same bytes as text: the whole line is redacted.
      if (columns === null) this.#line(bytes, start, end, null);
      else this.#line(bytes, columns.start, columns.end, end);
      start = end + 1;
    }
  }

  #line(bytes: Uint8Array, start: number, end: number, dumpEnd: number | null): void {
    for (let at = start; at < end; ) {
      const skipped = separatorAt(bytes, at);
      if (skipped > 0) {
        at += skipped;
        continue;
      }
      const digit = hexDigit(bytes[at] as number);
      if (digit < 0) this.#cut();
      else this.#digit(digit, at, dumpEnd ?? at + 1);
      at++;
    }
  }

  #digit(digit: number, at: number, to: number): void {
    if (this.#digits > 0) this.#scans[this.#digits & 1 ? 0 : 1].push((this.#last << 4) | digit, this.#lastAt, to);
    this.#digits++;
    this.#last = digit;
    this.#lastAt = at;
  }

  #cut(): void {
    if (this.#digits === 0) return;
    this.#digits = 0;
    for (const scan of this.#scans) scan.cut();
  }
}

/** Blanks, `:`, `,`, `-`, and the prefixes `0x` and `\x`. */
function separatorAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number;
  if (byte === 0x3a || byte === 0x2c || byte === 0x2d) return 1;
  if ((byte === 0x30 || byte === 0x5c) && ((bytes[at + 1] ?? 0) | 0x20) === 0x78) return 2;
  return blankAt(bytes, at);
}

function dumpColumns(bytes: Uint8Array, start: number, end: number): Columns | null {
  let at = start;
  while (at < end && bytes[at] === 0x20) at++;
  const first = at;
  while (at < end && at - first <= offsetDigitsMax && hexDigit(bytes[at] as number) >= 0) at++;
  const isOffset = at - first >= offsetDigitsMin && at - first <= offsetDigitsMax;
  const hasColon = bytes[at] === 0x3a;
  if (!isOffset || at >= end || (!hasColon && bytes[at] !== 0x20)) return null;
  const from = at + 1;
  let pairs = 0;
  for (at = from; at < end; ) {
    if (bytes[at] === 0x20) {
      // With a colon after the offset, two blanks precede the text.
      if (hasColon && pairs > 0 && bytes[at + 1] === 0x20) break;
      at++;
      continue;
    }
    const group = at;
    while (at < end && hexDigit(bytes[at] as number) >= 0) at++;
    const isGroup = at > group && (at - group) % 2 === 0 && (at >= end || bytes[at] === 0x20 || bytes[at] === 0x0d);
    if (!isGroup) return pairs > 0 ? { start: from, end: group } : null;
    pairs += (at - group) / 2;
    if (bytes[at] === 0x0d) break;
  }
  return pairs > 0 ? { start: from, end: at } : null;
}
