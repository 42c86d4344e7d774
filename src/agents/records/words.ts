// The words of a text as search sees them: folded, cut at what is no letter or digit, each once.

import type { Range } from "../../core/notation/source.ts";

/** A longer run of letters is data, not a word; it is found by its beginning. */
export const wordCharactersMax = 64;
/** Different words of one record; further ones are not found, and the record says so. */
export const wordsPerRecordMax = 20_000;

/** Writing without spaces: every character is a word of its own, so that any part of a sentence is found. */
const DENSE = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}";
const WORD = new RegExp(`[${DENSE}]\\p{M}*|(?:(?![${DENSE}])[\\p{L}\\p{N}\\p{M}])+`, "gu");

/** One spelling for what readers take for the same: wide and narrow forms, capitals, ß and ss, both small sigmas. */
export function fold(text: string): string {
  const upper = text.normalize("NFKC").toUpperCase();
  return upper.toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

export interface Words {
  /** In the order of their code units, none twice. */
  readonly list: readonly string[];
  /** There were more. */
  readonly cut: boolean;
}

/** Where words stand in a text as it is written. Folding may join or part some of them; those are found, not shown. */
export function* wordRanges(text: string): Generator<Range> {
  for (const { 0: word, index } of text.matchAll(WORD)) yield { start: index, end: index + word.length };
}

export function wordsOf(text: string): Words {
  const found = new Set<string>();
  for (const [word] of fold(text).matchAll(WORD)) {
    found.add(firstOf(word));
    if (found.size > wordsPerRecordMax) break;
  }
  const cut = found.size > wordsPerRecordMax;
  return { list: [...found].slice(0, wordsPerRecordMax).sort(), cut };
}

/** Never half a character. */
function firstOf(word: string): string {
  if (word.length <= wordCharactersMax) return word;
  const head = word.slice(0, wordCharactersMax);
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
}
