// Patterns that begin with the same number of words, gathered to make a table of them.

import { goesOn, type Leaf, wordAt } from "./literal-records.ts";
import type { Sequence } from "./sequence.ts";

export class LiteralPatterns {
  readonly size: number;
  readonly patterns: Sequence[] = [];
  readonly leaves: Leaf[] = [];
  /** So many words at the beginning are the same in all. */
  common: number;
  /** Some pattern goes on behind its words, so that a longer value can match. */
  open = false;
  /** The words of all, one pattern behind the other. */
  readonly #words: string[] = [];

  constructor(size: number) {
    this.size = size;
    this.common = size;
  }

  /** What is known of all of them is learnt here, where the pattern is at hand: one walk through the memory, not four. */
  add(pattern: Sequence, leaf: Leaf): void {
    this.patterns.push(pattern);
    this.leaves.push(leaf);
    if (goesOn(leaf)) this.open = true;
    const words = this.#words;
    for (let place = 0; place < this.size; place++) {
      const word = wordAt(pattern, place);
      words.push(word);
      if (place < this.common && word !== words[place]) this.common = place;
    }
  }

  /** The words of a pattern, written into a list that is used again. */
  wordsOf(at: number, into: string[]): string[] {
    const start = at * this.size;
    for (let place = 0; place < this.size; place++) into[place] = this.#words[start + place] as string;
    return into;
  }
}
