// Where the characters of a text stand in its file. Inside quotes they stand one further, and doubled quotes, escapes and
// folded lines are written with more characters than they are.
import type { Span } from "../../authority/grant.ts";

export type Places =
  /** One for one, from where its span begins. */
  | { readonly kind: "plain" }
  /** For each UTF-16 unit of it, where in the file what spells it begins and ends. */
  | { readonly kind: "known"; readonly starts: readonly number[]; readonly ends: readonly number[] }
  /** It cannot be told: the text was not written as YAML or JSON write it. */
  | { readonly kind: "unknown" };

export const PLAIN_PLACES: Places = { kind: "plain" };
const UNKNOWN: Places = { kind: "unknown" };

/** `written`: what stands in the file under the span; absent where that is the text itself. */
export function placesOf(text: string, span: Span, written: string | undefined): Places {
  if (written === undefined || written === text) return PLAIN_PLACES;
  const { start, end, step } = formOf(written);
  const starts: number[] = [];
  const ends: number[] = [];
  let at = start;
  while (at < end) {
    const found = lineEnd(written, at, end, text, starts.length) ?? step(written, at, end);
    // INVARIANT: what is read here is what the reader of the file read, or nothing is said about it.
    if (found === null || !text.startsWith(found.text, starts.length)) return UNKNOWN;
    for (let unit = 0; unit < found.text.length; unit++) {
      starts.push(span.start + at);
      ends.push(span.start + at + found.length);
    }
    at += found.length;
  }
  return starts.length === text.length ? { kind: "known", starts, ends } : UNKNOWN;
}

/** Of a part of the text. */
export function placesWithin(places: Places, start: number, end: number): Places {
  if (places.kind !== "known") return places;
  return { kind: "known", starts: places.starts.slice(start, end), ends: places.ends.slice(start, end) };
}

/** Of a part of the text, inside the span of the whole; the whole where nothing better is known. */
export function spanWithin(whole: Span, places: Places, start: number, end: number): Span {
  if (places.kind === "unknown") return whole;
  if (places.kind === "plain")
    return {
      source: whole.source,
      start: Math.min(whole.start + start, whole.end),
      end: Math.min(whole.start + end, whole.end),
    };
  // A part may begin or end behind the text: what is missing is missing there.
  const close = places.ends.at(-1) ?? whole.end;
  const first = places.starts[start] ?? close;
  return { source: whole.source, start: first, end: end > start ? (places.ends[end - 1] ?? close) : first };
}

interface TextToken {
  readonly text: string;
  /** As it is written. */
  readonly length: number;
}

interface Form {
  readonly start: number;
  readonly end: number;
  step(written: string, at: number, end: number): TextToken | null;
}

function formOf(written: string): Form {
  const quote = written[0];
  const inside = { start: 1, end: written.length - 1 };
  if (quote === '"' && written.length > 1 && written.endsWith(quote)) return { ...inside, step: doubleQuoted };
  if (quote === "'" && written.length > 1 && written.endsWith(quote)) return { ...inside, step: singleQuoted };
  const header = /^[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\n/.exec(written)?.[0].length ?? 0;
  // The first line of a block is indented like the others.
  const indent = header === 0 ? 0 : (/^[ \t]*/.exec(written.slice(header))?.[0].length ?? 0);
  return { start: header + indent, end: written.length, step: bare };
}

/** A break and the blanks around it: as many blanks and breaks as the reader made of them. Null where there is none. */
function lineEnd(written: string, at: number, end: number, text: string, read: number): TextToken | null {
  BREAK.lastIndex = at;
  const length = BREAK.exec(written)?.[0].length ?? 0;
  if (length === 0 || at + length > end) return null;
  // Behind a backslash a break is nothing.
  if (written[at] === "\\") return { text: "", length };
  BLANKS.lastIndex = read;
  return { text: BLANKS.exec(text)?.[0] ?? "", length };
}

const BREAK = /\\?[ \t]*\r?\n[ \t\r\n]*/y;
const BLANKS = /[ \t\n]*/y;

function bare(written: string, at: number): TextToken {
  return { text: written[at] as string, length: 1 };
}

function singleQuoted(written: string, at: number, close: number): TextToken | null {
  if (written[at] !== "'") return bare(written, at);
  return written[at + 1] === "'" && at + 1 < close ? { text: "'", length: 2 } : null;
}

const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^xuU\r\n]))/y;
const codePointMax = 0x10ffff;

function doubleQuoted(written: string, at: number, close: number): TextToken | null {
  const character = written[at] as string;
  if (character === '"') return null;
  if (character !== "\\") return bare(written, at);
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(written);
  if (found === null || at + found[0].length > close) return null;
  const [whole, byte, unit, point, name = ""] = found;
  const number = byte ?? unit ?? point;
  const code = number === undefined ? NAMED[name] : Number.parseInt(number, 16);
  return code === undefined || code > codePointMax ? null : { text: String.fromCodePoint(code), length: whole.length };
}

/** YAML's escapes of one letter; those of JSON are among them. */
const NAMED: Readonly<Record<string, number>> = {
  "0": 0,
  a: 7,
  b: 8,
  t: 9,
  "\t": 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  e: 27,
  " ": 32,
  '"': 34,
  "/": 47,
  "\\": 92,
  N: 0x85,
  _: 0xa0,
  L: 0x2028,
  P: 0x2029,
};
