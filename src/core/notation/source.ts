// A text with a name, and where in it an offset lies: lines and columns as an editor counts them.

export interface Source {
  /** Shown before line and column, and carried by every span: usually the path of a file. */
  readonly name: string;
  readonly text: string;
}

/** Part of a text, in UTF-16 units, the end not included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** One line of a text without its break. */
export interface Line extends Range {
  /** From 1. */
  readonly number: number;
}

export interface LinePosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in code points of the line. */
  readonly column: number;
}

export function place(source: Source, offset: number): LinePosition {
  const line = lineAt(source, offset);
  const end = Math.min(Math.max(clamp(source.text, offset), line.start), line.end);
  let column = 1;
  for (let at = line.start; at < end; column++) at += (source.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  // An offset between the halves of one character lies in that character.
  return { line: line.number, column: isInsideCharacter(source.text, end) ? column - 1 : column };
}

/** The line an offset lies on. CRLF, CR and LF each end one; an offset on a break lies on the line it ends. */
export function lineAt(source: Source, offset: number): Line {
  const { text } = source;
  const wanted = clamp(text, offset);
  const breaks = /\r\n?|\n/g;
  let number = 1;
  let start = 0;
  for (let found = breaks.exec(text); found !== null; found = breaks.exec(text)) {
    if (wanted < breaks.lastIndex) return { number, start, end: found.index };
    number++;
    start = breaks.lastIndex;
  }
  return { number, start, end: text.length };
}

/** A range with both ends inside the text and in order, whatever it was handed. */
export function inside(text: string, range: Range): Range {
  const start = clamp(text, range.start);
  return { start, end: Math.max(start, clamp(text, range.end)) };
}

function clamp(text: string, offset: number): number {
  return Number.isNaN(offset) ? 0 : Math.min(Math.max(Math.trunc(offset), 0), text.length);
}

function isInsideCharacter(text: string, offset: number): boolean {
  return /^[\uDC00-\uDFFF]/.test(text.charAt(offset)) && /^[\uD800-\uDBFF]/.test(text.charAt(offset - 1));
}
