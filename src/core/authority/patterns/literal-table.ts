// Patterns with the same number of words before their end, in one flat table.
//
// What a look-up among many costs is the memory it touches, not its steps. Here that is a slot, a record and the text of
// a word; a value that is not covered mostly ends at an empty slot.

import { LiteralPatterns } from "./literal-patterns.ts";
import { grantOfLeaf, type Leaf, LiteralRecords, leafOf, wordsBefore } from "./literal-records.ts";
import type { Segments, Sequence } from "./sequence.ts";
import { Trie } from "./trie.ts";

/** Up to so many are compared one by one. */
const scannedMax = 4;
/** The longest probe distance: an attacker cannot choose names that make look-ups long. */
const probesMax = 64;
/** More steps than this a pattern, and the characters looked at do not tell the patterns apart. */
const probesMeanMax = 3;
/** So many characters at the end of a word are tried, the fewest first; no key costs more for a word that is longer. */
const keyCharactersMax = 256;
const keyCharacters: readonly number[] = [2, 6, keyCharactersMax];
/** A key is looked for among so many of the last words, and then in all of these at once. */
const keyWordsMax = 8;
const ALL_WORDS = -1;

const NO_SLOTS: Int32Array = new Int32Array(0);
const MULTIPLIER = 0x9e3779b1;

/** What is said of words that are not there: no slot is left for them; or, below this, the slot they would have. */
const ABSENT = -1;

export class LiteralTable {
  /** Which of the patterns found no place here. */
  readonly left: readonly number[];
  readonly #size: number;
  readonly #open: boolean;
  readonly #records: LiteralRecords;
  /** Where few are compared one by one: the record of each. */
  readonly #scanned: number[] | null;
  /** Elsewhere a record's number raised by one, and below it what of its key did not choose the slot; zero is empty. */
  #slots: Int32Array = NO_SLOTS;
  #shift = 0;
  #rest = 0;
  /** What a key is made of: the last characters of one word, or of several. */
  #word: number = ALL_WORDS;
  #characters: number = keyCharactersMax;

  constructor(all: LiteralPatterns) {
    this.#size = all.size;
    this.#open = all.open;
    this.#records = new LiteralRecords(all);
    this.#scanned = all.size === 0 || all.patterns.length <= scannedMax ? [] : null;
    if (this.#scanned !== null) this.#list(all, this.#scanned);
    this.left = this.#scanned === null ? this.#choose(all) : [];
  }

  /** Puts the grants whose pattern matches into `found` behind the first `from`, and answers how many are there now. */
  find(value: Segments, found: number[], from: number): number {
    const { segments } = value;
    if (segments.length < this.#size || (segments.length > this.#size && !this.#open)) return from;
    const record =
      this.#scanned === null ? this.#seek(segments, this.#key(segments)) : this.#scan(segments, this.#scanned);
    return record < 0 ? from : this.#records.collect(record, value, found, from);
  }

  #list(all: LiteralPatterns, scanned: number[]): void {
    const { leaves } = all;
    const shared = new Map<string, string>();
    for (let at = 0; at < leaves.length; at++) {
      const words = all.wordsOf(at, []);
      const record = this.#scan(words, scanned);
      if (record >= 0) this.#records.join(leaves[at] as Leaf, record);
      else scanned.push(this.#records.append(leaves[at] as Leaf, words, ALL_WORDS, shared));
    }
  }

  /** Tries keys, the cheapest first, until one tells the patterns apart. */
  #choose(all: LiteralPatterns): readonly number[] {
    // Twice as many slots as records at least, so that a record's number takes no more bits than a slot's.
    this.#shift = Math.clz32(all.patterns.length * 2 - 1);
    this.#rest = (1 << this.#shift) - 1;
    this.#slots = new Int32Array(1 << (32 - this.#shift));
    // A word that every pattern has tells none apart.
    const first = Math.max(Math.min(all.common, all.size - 1), all.size - keyWordsMax);
    for (const characters of keyCharacters) {
      for (let word = this.#size - 1; word >= first; word--) {
        this.#word = word;
        this.#characters = characters;
        const left = this.#fill(all, probesMeanMax);
        if (left?.length === 0) return left;
        this.#slots.fill(0);
        this.#records.clear();
      }
    }
    this.#word = ALL_WORDS;
    return this.#fill(all, Number.POSITIVE_INFINITY) ?? [];
  }

  /** Fills the empty table; answers with what found no place, or null where it takes more steps than `meanMax` each. */
  #fill(all: LiteralPatterns, meanMax: number): readonly number[] | null {
    const { leaves } = all;
    const slots = this.#slots;
    const words: string[] = [];
    const shared = new Map<string, string>();
    const left: number[] = [];
    let steps = 0;
    for (let at = 0; at < leaves.length; at++) {
      all.wordsOf(at, words);
      const key = this.#key(words);
      const place = this.#seek(words, key);
      if (place === ABSENT) {
        left.push(at);
        steps += probesMax;
      } else if (place >= 0) this.#records.join(leaves[at] as Leaf, place);
      else {
        const slot = ABSENT - 1 - place;
        const record = this.#records.append(leaves[at] as Leaf, words, this.#word, shared);
        slots[slot] = ((record + 1) << this.#shift) | (key & this.#rest);
        steps += (slot - (key >>> this.#shift)) & (slots.length - 1);
      }
      if (steps > meanMax * (at + probesMax)) return null;
    }
    return left;
  }

  #scan(segments: readonly string[], scanned: readonly number[]): number {
    for (let at = 0; at < scanned.length; at++)
      if (this.#records.same(scanned[at] as number, segments)) return scanned[at] as number;
    return ABSENT;
  }

  /** The record of the words that the segments begin with, or what stands for their absence. */
  #seek(segments: readonly string[], key: number): number {
    const slots = this.#slots;
    const shift = this.#shift;
    const rest = this.#rest;
    // `| 0`: V8 would count with what is unsigned as with fractions.
    let slot = (key >>> shift) | 0;
    for (let probe = 0; probe < probesMax; probe++) {
      const entry = slots[slot] as number;
      if (entry === 0) return ABSENT - 1 - slot;
      // INVARIANT: a key is a hint; only the words themselves decide.
      if (((entry ^ key) & rest) === 0) {
        const record = ((entry >>> shift) | 0) - 1;
        if (this.#records.same(record, segments)) return record;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return ABSENT;
  }

  #key(segments: readonly string[]): number {
    if (this.#word !== ALL_WORDS) return textKey(segments[this.#word] as string, this.#characters, 0);
    let key = 0;
    for (let at = Math.max(0, this.#size - keyWordsMax); at < this.#size; at++)
      key = textKey(segments[at] as string, this.#characters, key);
    return key;
  }
}

/** The first bits of a key choose its slot, so every character must reach them. `before`: the key of the words before. */
export function textKey(text: string, characters: number, before: number): number {
  let key = before ^ (before >>> 15) ^ text.length;
  for (let at = Math.max(0, text.length - characters); at < text.length; at++)
    key = Math.imul(key ^ text.charCodeAt(at), MULTIPLIER);
  return key;
}

/** More tables than this, and looking into each costs more than one walk through a trie. */
const tablesMax = 8;

export class PatternIndex {
  /** What the last look-up found: the first so many places, as `find` answers. Never shortened, only overwritten. */
  readonly found: number[] = [];
  /** What was added and is in no table yet, by the number of words. */
  #gathered: LiteralPatterns[] = [];
  #tables: readonly LiteralTable[] = [];
  #trie: Trie | null = null;

  /** Before `seal`, which makes the tables. */
  add(pattern: Sequence, grant: number): void {
    const size = wordsBefore(pattern);
    const leaf = leafOf(pattern, size, grant);
    if (leaf === null) {
      this.#walk(pattern, grant);
      return;
    }
    let alike = this.#gathered.find((one) => one.size === size);
    if (alike === undefined) {
      alike = new LiteralPatterns(size);
      this.#gathered.push(alike);
    }
    alike.add(pattern, leaf);
  }

  seal(): void {
    const lists = this.#gathered.sort((left, right) => right.leaves.length - left.leaves.length);
    this.#tables = lists.slice(0, tablesMax).map((list) => {
      const table = new LiteralTable(list);
      for (const at of table.left) this.#walkLeaf(list, at);
      return table;
    });
    for (const list of lists.slice(tablesMax)) for (const at of list.leaves.keys()) this.#walkLeaf(list, at);
    this.#gathered = [];
  }

  /** How many grants with a pattern that matches stand in `found` now; a grant may come more than once. */
  find(value: Segments): number {
    const tables = this.#tables;
    let count = 0;
    for (let at = 0; at < tables.length; at++) count = (tables[at] as LiteralTable).find(value, this.found, count);
    return this.#trie === null ? count : this.#trie.find(value, this.found, count);
  }

  #walk(pattern: Sequence, grant: number): void {
    this.#trie ??= new Trie();
    this.#trie.add(pattern, grant);
  }

  #walkLeaf({ patterns, leaves }: LiteralPatterns, at: number): void {
    this.#walk(patterns[at] as Sequence, grantOfLeaf(leaves[at] as Leaf));
  }
}
