// Full-text search: every word of the query must be a prefix of a word in the record. An inverted index, built on
// demand from the words of the records and never stored.
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
  if (question.length > queryCharactersMax) return refuse("too_long", "the question is too long");
  const { list } = wordsOf(question);
  if (list.length === 0) return refuse("bad_value", "there is no word to search for", "use letters or digits");
  if (list.length > queryWordsMax) return refuse("too_long", `a question has at most ${queryWordsMax} words`);
  return done(list);
}

/** The field a word was found in, as bits. */
const TITLE = 1;
const TAGS = 2;
const BODY = 4;
/** The whole word matched, not only a prefix. */
const WHOLE = 8;
const markBits = 8;

/** Independent of the order and number of records: only words and fields count. */
export function rankOf(marks: readonly number[]): number {
  const count = (bit: number): number => marks.filter((mark) => (mark & bit) !== 0).length;
  const base = queryWordsMax + 1;
  return ((count(TITLE) * base + count(TAGS)) * base + count(BODY)) * base + count(WHOLE);
}

export class SearchIndex {
  /** Word to its records: the record's number times eight, plus the field bits. */
  readonly #postings = new Map<string, number[]>();
  readonly #words: readonly string[];
  readonly #count: number;

  constructor(records: readonly RecordWords[]) {
    this.#count = records.length;
    for (const [number, { title, tags, body }] of records.entries()) {
      for (const word of title) this.#post(word, number, TITLE);
      for (const word of tags) this.#post(word, number, TAGS);
      for (const word of body) this.#post(word, number, BODY);
    }
    this.#words = [...this.#postings.keys()].sort();
  }

  /** Numbers of the records that have all of the words: title before tags before body, then in the given order. */
  find(words: readonly string[]): readonly number[] {
    let found: ReadonlyMap<number, readonly number[]> | null = null;
    for (const word of words) {
      const here = this.#records(word);
      const both = new Map<number, readonly number[]>();
      for (const [number, mark] of here) {
        const marks = found === null ? [] : found.get(number);
        if (marks !== undefined) both.set(number, [...marks, mark]);
      }
      found = both;
    }
    const ranked = [...(found ?? new Map<number, readonly number[]>())].map(([number, marks]) => ({
      number,
      rank: rankOf(marks),
    }));
    return ranked
      .sort((left, right) => right.rank - left.rank || left.number - right.number)
      .map(({ number }) => number);
  }

  get size(): number {
    return this.#count;
  }

  #post(word: string, number: number, place: number): void {
    const list = this.#postings.get(word);
    if (list === undefined) {
      this.#postings.set(word, [number * markBits + place]);
      return;
    }
    const last = list[list.length - 1] as number;
    if (Math.floor(last / markBits) === number) list[list.length - 1] = number * markBits + ((last % markBits) | place);
    else list.push(number * markBits + place);
  }

  /** Records with a word that has this prefix, and its fields. */
  #records(start: string): ReadonlyMap<number, number> {
    const marks = new Map<number, number>();
    for (let at = this.#firstAtLeast(start); at < this.#words.length; at++) {
      const word = this.#words[at] as string;
      if (!word.startsWith(start)) break;
      const whole = word === start ? WHOLE : 0;
      for (const posting of this.#postings.get(word) ?? []) {
        const number = Math.floor(posting / markBits);
        marks.set(number, (marks.get(number) ?? 0) | (posting % markBits) | whole);
      }
    }
    return marks;
  }

  #firstAtLeast(word: string): number {
    let low = 0;
    let high = this.#words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#words[middle] as string) < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
