// The patterns of a table as records that lie side by side: a leaf, and the words in which the patterns differ.

import type { LiteralPatterns } from "./literal-patterns.ts";
import type { Segment } from "./segment.ts";
import type { Segments, Sequence } from "./sequence.ts";

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

/** What follows the words. */
const NOTHING = 0;
const ONE = 1;
const DEEP = 2;
/** A star and a deep star: one segment or more. */
const BELOW = 3;
const REST = 4;
const FOLLOWS_BITS = 3;
const FOLLOWS_MASK = (1 << FOLLOWS_BITS) - 1;

/** A grant and what follows the words of its pattern, in one number. Never below zero. */
export type Leaf = number;

/** How many words a pattern begins with. */
export function wordsBefore(pattern: Sequence): number {
  let size = 0;
  while (size < pattern.length && (pattern[size] as Segment).kind === "literal") size++;
  return size;
}

/** Null for a pattern of another form: with a star before a word, or inside one. */
export function leafOf(pattern: Sequence, size: number, grant: number): Leaf | null {
  const follows = followsOf(pattern, size);
  return follows === null ? null : (grant << FOLLOWS_BITS) | follows;
}

function followsOf(pattern: Sequence, size: number): number | null {
  const first = pattern[size]?.kind;
  if (pattern.length === size + 2) return first === "one" && pattern[size + 1]?.kind === "deep" ? BELOW : null;
  if (pattern.length > size + 2) return null;
  switch (first) {
    case undefined:
      return NOTHING;
    case "one":
      return ONE;
    case "deep":
      return DEEP;
    case "rest":
      return REST;
    case "literal":
    case "glob":
      return null;
  }
}

export function wordAt(pattern: Sequence, place: number): string {
  return (pattern[place] as Segment & { readonly kind: "literal" }).text;
}

export function grantOfLeaf(leaf: Leaf): number {
  return leaf >> FOLLOWS_BITS;
}

/** Can the pattern match a value with more segments than it has words? */
export function goesOn(leaf: Leaf): boolean {
  return (leaf & FOLLOWS_MASK) !== NOTHING;
}

/** Does what follows the words match the segments of a value from `at` on? No star matches a guarded one. */
export function leafMatches(leaf: Leaf, { segments, guarded }: Segments, at: number): boolean {
  const follows = leaf & FOLLOWS_MASK;
  if (follows === REST) return true;
  if (follows === NOTHING) return segments.length === at;
  if (follows !== DEEP && segments.length === at) return false;
  if (follows === ONE && segments.length !== at + 1) return false;
  return guarded === null || guarded.indexOf(true, at) < 0;
}
