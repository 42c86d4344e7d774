// Full-text search: every word of the question must begin a word of the record. An inverted index, built from the
// words of the records whenever it is needed and never kept.
import { done, type Result, refuse } from "../../core/base/result.ts";
import { wordsOf } from "./words.ts";

/** The words of a record by where they stand. */
export interface RecordWords {
  readonly title: readonly string[];
  /** Tags, and the parts of the id. */
  readonly tags: readonly string[];
  readonly body: readonly string[];
}

export const queryWordsMax = 16;
const queryCharactersMax = 4096;

/** The words a question asks for, or why it cannot be asked. */
export function queryWords(question: string): Result<readonly string[]> {
  if (question.length > queryCharactersMax) return refuse("too_long", "the question is too long");
  const { list } = wordsOf(question);
  if (list.length === 0) return refuse("bad_value", "there is no word to search for", "use letters or digits");
  if (list.length > queryWordsMax) return refuse("too_long", `a question has at most ${queryWordsMax} words`);
  return done(list);
}

/** Where a word was found, as bits. */
const TITLE = 1;
const TAGS = 2;
const BODY = 4;
/** Not only its beginning. */
const WHOLE = 8;
const markBits = 8;

/** The same for every order and number of records: only words and places count. */
export function rankOf(marks: readonly number[]): number {
  const count = (bit: number): number => marks.filter((mark) => (mark & bit) !== 0).length;
  const base = queryWordsMax + 1;
  return ((count(TITLE) * base + count(TAGS)) * base + count(BODY)) * base + count(WHOLE);
}

export class SearchIndex {
  /** Word to its records: the number of the record times eight, plus the places. */
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

  /** Numbers of the records that have all of the words: title before tags before body, then in the order given. */
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

  /** Records with a word that begins like this one, and where it stands in them. */
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
