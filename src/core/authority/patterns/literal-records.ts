// The patterns of a table as records that lie side by side: a leaf, and the words in which the patterns differ.
import { grantOfLeaf, type Leaf, leafMatches } from "./literal-form.ts";
import type { LiteralPatterns } from "./literal-patterns.ts";
import type { Segments } from "./sequence.ts";

/** Past so many different words, one more is not looked for among them. */
const sharedWordsMax = 1024;

/** From so many on, words are copied: fewer stay in the caches wherever they lie. */
const copiedMin = 1024;

export class LiteralRecords {
  readonly #size: number;
  readonly #first: readonly string[];
  readonly #common: number;
  readonly #stride: number;
  readonly #areMany: boolean;
  /** A record: its leaf, or the number of a list of leaves, below zero; then its words behind the common ones. */
  #records: (number | string)[] = [];
  #lists: Leaf[][] = [];

  constructor(all: LiteralPatterns) {
    const { size, common } = all;
    this.#size = size;
    this.#first = all.wordsOf(0, []);
    this.#common = common;
    this.#stride = 1 + size - common;
    this.#areMany = all.leaves.length >= copiedMin;
  }

  clear(): void {
    this.#records = [];
    this.#lists = [];
  }

  /** The number of the new record. `shared`: words many records have are kept once, to stay in the processor's caches. */
  append(leaf: Leaf, words: readonly string[], key: number, shared: Map<string, string>): number {
    const record = this.#records.length / this.#stride;
    this.#records.push(leaf);
    for (let place = this.#common; place < words.length; place++) {
      const word = words[place] as string;
      // Hardly any two records have the word in common that the key is made of.
      this.#records.push(place !== key ? sharedWord(word, shared) : this.#areMany ? copyOf(word) : word);
    }
    return record;
  }

  /** One more with the words of a record. */
  join(leaf: Leaf, record: number): void {
    const at = record * this.#stride;
    const known = this.#records[at] as number;
    if (known < 0) this.#lists[~known]?.push(leaf);
    else this.#records[at] = ~(this.#lists.push([known, leaf]) - 1);
  }

  /** Has the record the words that the segments begin with? From the last, which differs more often than the first. */
  same(record: number, segments: readonly string[]): boolean {
    const records = this.#records;
    const first = this.#first;
    const common = this.#common;
    const start = record * this.#stride + 1 - common;
    for (let place = this.#size - 1; place >= common; place--)
      if (records[start + place] !== segments[place]) return false;
    for (let place = common - 1; place >= 0; place--) if (first[place] !== segments[place]) return false;
    return true;
  }

  /** Puts the grants of a record that match what follows its words into `found`; how many are there now. */
  collect(record: number, value: Segments, found: number[], from: number): number {
    const leaf = this.#records[record * this.#stride] as number;
    if (leaf >= 0) {
      if (!leafMatches(leaf, value, this.#size)) return from;
      found[from] = grantOfLeaf(leaf);
      return from + 1;
    }
    let count = from;
    for (const one of this.#lists[~leaf] as Leaf[])
      if (leafMatches(one, value, this.#size)) found[count++] = grantOfLeaf(one);
    return count;
  }
}

function sharedWord(word: string, shared: Map<string, string>): string {
  const known = shared.get(word);
  if (known === undefined && shared.size < sharedWordsMax) shared.set(word, word);
  return known ?? word;
}

/**
 * The same text in memory of its own, beside that of the word before. The patterns' own texts lie wherever their grants
 * do, each in another page, and to find a page costs more than to compare a word.
 */
function copyOf(word: string): string {
  return ` ${word}`.slice(1);
}
