// The second scan, of a whole text: secrets that were wrapped, spaced, escaped in mixtures, or encoded once more. The
// whole word that contains one is redacted.
import { Automaton, type Pattern } from "./automaton.ts";
import { readBase64 } from "./base64-view.ts";
import { escapeAt, softBreakAt } from "./escapes.ts";
import { HexView } from "./hex-view.ts";
import { type Interval, mergeIntervals } from "./intervals.ts";
import { bytesOf } from "./utf8.ts";
import { blankAt, isBlank, ViewScan } from "./view-scan.ts";

const scansCount = 8;

export class Normaliser {
  readonly #automaton: Automaton;
  readonly #scans: readonly ViewScan[];

  /** `automaton`: of the unchanged patterns, which is reused if none of them contains a blank. */
  constructor(patterns: readonly Pattern[], automaton: Automaton, shortestBytes: number) {
    this.#automaton = patterns.some(({ bytes }) => bytes.some(isBlank)) ? squeezed(patterns, shortestBytes) : automaton;
    this.#scans = Array.from({ length: scansCount }, () => new ViewScan(this.#automaton));
  }

  wipe(): void {
    this.#automaton.wipe();
  }

  /** In order, disjoint. `known`: intervals found before, in the same form; they are not scanned again. */
  find(bytes: Uint8Array, known: readonly Interval[]): readonly Interval[] {
    const [blanks, escapes, even, odd, ...places] = this.#scans as [ViewScan, ViewScan, ViewScan, ViewScan];
    for (let at = 0; at < bytes.length; ) {
      const blank = blankAt(bytes, at);
      if (blank === 0) blanks.push(bytes[at] as number, at, at + 1);
      at += Math.max(1, blank);
    }
    if ([0x25, 0x5c, 0x26, 0x3d].some((byte) => bytes.includes(byte))) readEscapes(bytes, escapes);
    new HexView([even, odd]).read(bytes);
    readBase64(bytes, places);
    const found = this.#scans.flatMap((scan) => scan.take()).filter((interval) => !isWithin(interval, known));
    return widened(bytes, mergeIntervals(found));
  }
}

/** Blanks are removed on both sides, so that a secret that contains some is found as well. */
function squeezed(patterns: readonly Pattern[], shortestBytes: number): Automaton {
  const dense = patterns.map(({ bytes, owner }) => ({ bytes: bytes.filter((byte) => !isBlank(byte)), owner }));
  return new Automaton(dense.filter(({ bytes }) => bytes.length >= shortestBytes));
}

function readEscapes(bytes: Uint8Array, scan: ViewScan): void {
  for (let at = 0; at < bytes.length; ) {
    const soft = softBreakAt(bytes, at);
    if (soft > 0) {
      at += soft;
      continue;
    }
    const read = escapeAt(bytes, at);
    const to = at + (read?.length ?? 1);
    if (read === null || read.isByte) scan.push(read?.point ?? (bytes[at] as number), at, to);
    else for (const byte of bytesOf(String.fromCodePoint(read.point))) scan.push(byte, at, to);
    at = to;
  }
}

function isWithin({ start, end }: Interval, known: readonly Interval[]): boolean {
  let low = 0;
  let high = known.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle] as Interval).end < end) low = middle + 1;
    else high = middle;
  }
  const holder = known[low];
  return holder !== undefined && holder.start <= start;
}

/** Extended to the edges of the words they begin and end in. No byte is visited twice. */
function widened(bytes: Uint8Array, found: readonly Interval[]): readonly Interval[] {
  const list: Interval[] = [];
  for (const { start, end, owners } of found) {
    const last = list.at(-1);
    const floor = last?.end ?? 0;
    let [left, right] = [Math.max(start, floor), Math.max(end, floor)];
    while (left > floor && isWord(bytes[left - 1] as number)) left--;
    while (right < bytes.length && isWord(bytes[right] as number)) right++;
    if (last !== undefined && start < floor) {
      last.end = right;
      for (const owner of owners) last.owners.add(owner);
    } else list.push({ start: left, end: right, owners });
  }
  return list;
}

/** Characters that occur in words of encodings. */
function isWord(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2f ||
    byte === 0x3d ||
    byte === 0x5f ||
    byte === 0x25
  );
}
