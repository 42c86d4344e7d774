// The words of a text for search: folded, split at everything that is not a letter or digit, each once.

import type { Range } from "../../core/notation/source.ts";

/** A longer run of letters is data, not a word; it is found by its prefix. */
export const wordCharactersMax = 64;
/** Different words of one record; further ones are not indexed, with a diagnostic. */
export const wordsPerRecordMax = 20_000;

/** Scripts without spaces: every character is a word of its own, so that any part of a sentence is found. */
const DENSE = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}";
const WORD = new RegExp(`[${DENSE}]\\p{M}*|(?:(?![${DENSE}])[\\p{L}\\p{N}\\p{M}])+`, "gu");

/** Folds equivalent spellings: wide and narrow forms, case, ß and ss, both small sigmas. */
export function fold(text: string): string {
  const upper = text.normalize("NFKC").toUpperCase();
  return upper.toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

export interface Words {
  /** In the order of their code units, without duplicates. */
  readonly list: readonly string[];
  /** Whether there were more. */
  readonly cut: boolean;
}

/** Positions of words in the original text. Folding may join or split some of them; those are found, not shown. */
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

/** Never between two surrogates. */
function firstOf(word: string): string {
  if (word.length <= wordCharactersMax) return word;
  const head = word.slice(0, wordCharactersMax);
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
}
