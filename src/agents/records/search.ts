// Full-text search: every word of the query must be a prefix of a word in the record. Each record's words are compared
// once; there is no index.
import { done, type Result, refuse } from "../../core/base/result.ts";
import { wordsOf } from "./words.ts";

/** The words of a record by field. */
export interface RecordWords {
  readonly title: readonly string[];
  /** Tags, and the parts of the id. */
  readonly tags: readonly string[];
  readonly body: readonly string[];
}

export const queryWordsMax = 16;
const queryCharactersMax = 4096;

/** The words of a query, or why it is invalid. */
export function queryWords(question: string): Result<readonly string[]> {
  if (question.length > queryCharactersMax) return refuse("too_long", "the query is too long");
  const { list } = wordsOf(question);
  if (list.length === 0) return refuse("bad_value", "the query has no word to search for", "use letters or digits");
  if (list.length > queryWordsMax) return refuse("too_long", `a query has at most ${queryWordsMax} words`);
  return done(list);
}

/** The field a word was found in, as bits. */
const TITLE = 1;
const TAGS = 2;
const BODY = 4;
/** The whole word matched, not only a prefix. */
const WHOLE = 8;

/** Independent of the order and number of records: only words and fields count. */
export function rankOf(marks: readonly number[]): number {
  const count = (bit: number): number => marks.filter((mark) => (mark & bit) !== 0).length;
  const base = queryWordsMax + 1;
  return ((count(TITLE) * base + count(TAGS)) * base + count(BODY)) * base + count(WHOLE);
}

/** One search: records are added one after the other, so that a caller can pause in between. */
export class RecordSearch {
  readonly #query: readonly string[];
  readonly #found: { readonly number: number; readonly rank: number }[] = [];
  #count = 0;

  constructor(query: readonly string[]) {
    this.#query = query;
  }

  add(words: RecordWords): void {
    const number = this.#count++;
    const marks: number[] = [];
    for (const start of this.#query) {
      const mark =
        markOf(words.title, start, TITLE) | markOf(words.tags, start, TAGS) | markOf(words.body, start, BODY);
      if (mark === 0) return;
      marks.push(mark);
    }
    this.#found.push({ number, rank: rankOf(marks) });
  }

  /** Numbers of the records that have all of the words: title before tags before body, then in the given order. */
  found(): readonly number[] {
    return this.#found
      .toSorted((left, right) => right.rank - left.rank || left.number - right.number)
      .map(({ number }) => number);
  }
}

/** The field's bit if one of its words begins like this; with `WHOLE` if one is exactly this. */
function markOf(words: readonly string[], start: string, field: number): number {
  let mark = 0;
  for (const word of words) {
    if (!word.startsWith(start)) continue;
    if (word.length === start.length) return field | WHOLE;
    mark = field;
  }
  return mark;
}
