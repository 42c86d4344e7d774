// The line of a record that matches a query best, with the positions of the matched words.
import type { Range, Source } from "../../core/notation/source.ts";
import { fold, wordRanges, wordsOf } from "./words.ts";

export interface Snippet {
  /** Of the file, from 1. */
  readonly line: number;
  /** Of the first mark, from 1, in code points of the line. */
  readonly column: number;
  /** The line, or the part of it around the first mark. */
  readonly text: string;
  /** Ranges of the words in `text`; in order, not overlapping, at least one. */
  readonly marks: readonly Range[];
  /** The line continues before or after it. */
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
}

/** Of one record; text beyond is found, but not shown. */
const charactersLookedAtMax = 262_144;
const textCharactersMax = 160;
const charactersBeforeMax = 40;
const marksMax = 32;

/**
 * The first line with the most of the words: of the body, or of the frontmatter if the body has none. Null if no line
 * contains any, such as for a word of the id.
 */
export function snippetOf({ text }: Source, body: number, words: readonly string[]): Snippet | null {
  const end = Math.min(text.length, body + charactersLookedAtMax);
  return bestLine(text, { start: body, end }, words) ?? bestLine(text, { start: 0, end: Math.min(body, end) }, words);
}

interface LineMatch {
  readonly line: Range;
  readonly marks: readonly Range[];
  readonly count: number;
}

function bestLine(text: string, range: Range, words: readonly string[]): Snippet | null {
  let best: LineMatch | null = null;
  for (const line of linesOf(text, range)) {
    const found = lookAt(text, line, words);
    if (found === null || found.count <= (best?.count ?? 0)) continue;
    best = found;
    if (found.count === words.length) break;
  }
  return best === null ? null : cutOut(text, best);
}

function* linesOf(text: string, { start, end }: Range): Generator<Range> {
  const breaks = /\r\n?|\n/g;
  let from = start;
  breaks.lastIndex = start;
  for (let found = breaks.exec(text); found !== null && found.index < end; found = breaks.exec(text)) {
    yield { start: from, end: found.index };
    from = breaks.lastIndex;
  }
  if (from < end) yield { start: from, end };
}

function lookAt(text: string, line: Range, words: readonly string[]): LineMatch | null {
  const written = text.slice(line.start, line.end);
  // Most lines have none of the words, and are not split.
  const folded = fold(written);
  if (!words.some((word) => folded.includes(word))) return null;
  const marks: Range[] = [];
  const met = new Set<string>();
  for (const range of wordRanges(written)) {
    const word = written.slice(range.start, range.end);
    const begun = words.filter((wanted) => wordsOf(word).list.some((one) => one.startsWith(wanted)));
    for (const wanted of begun) met.add(wanted);
    const longest = Math.max(0, ...begun.map((wanted) => wanted.length));
    if (longest === 0) continue;
    // If folding changes the length, the matching part of the word is unknown.
    const length = fold(word).length === word.length ? longest : word.length;
    marks.push({ start: range.start, end: range.start + Math.min(length, word.length) });
    if (marks.length === marksMax) break;
  }
  return marks.length === 0 ? null : { line, marks, count: met.size };
}

function cutOut(text: string, { line, marks }: LineMatch): Snippet {
  const written = text.slice(line.start, line.end);
  const first = (marks[0] as Range).start;
  const indent = /^\s*/.exec(written)?.[0].length ?? 0;
  const isLong = written.length - indent > textCharactersMax;
  const start = whole(written, isLong ? Math.max(indent, first - charactersBeforeMax) : indent);
  const end = whole(written, Math.min(written.trimEnd().length, start + textCharactersMax));
  const shifted = marks.map((mark) => ({ start: mark.start - start, end: Math.min(mark.end, end) - start }));
  return {
    line: text.slice(0, line.start).split(/\r\n?|\n/).length,
    column: [...written.slice(0, first)].length + 1,
    text: written.slice(start, end),
    marks: shifted.filter((mark) => mark.start < mark.end),
    cutBefore: start > indent,
    cutAfter: end < written.trimEnd().length,
  };
}

/** Never between two surrogates. */
function whole(text: string, offset: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(offset, offset + 1)) ? offset - 1 : offset;
}
