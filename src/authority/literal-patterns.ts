// Patterns that begin with the same number of words, gathered to make a table of them.
import { goesOn, type Leaf, wordAt } from "./literal-form.ts";
import type { Sequence } from "./sequence.ts";

export class LiteralPatterns {
  readonly size: number;
  readonly patterns: Sequence[] = [];
  readonly leaves: Leaf[] = [];
  /** The words of the first pattern, of which so many at the beginning are the same in all. */
  readonly first: readonly string[];
  common: number;
  /** Some pattern goes on behind its words, so that a longer value can match. */
  open = false;

  constructor(size: number, pattern: Sequence) {
    this.size = size;
    this.first = wordsOf(pattern, size, []);
    this.common = size;
  }

  /** What is known of all of them is learnt here, where the pattern is at hand: one walk through the memory, not four. */
  add(pattern: Sequence, leaf: Leaf): void {
    this.patterns.push(pattern);
    this.leaves.push(leaf);
    if (goesOn(leaf)) this.open = true;
    let same = 0;
    while (same < this.common && wordAt(pattern, same) === this.first[same]) same++;
    this.common = same;
  }
}

/** The words a pattern begins with, written into a list that is used again. */
export function wordsOf(pattern: Sequence, size: number, into: string[]): string[] {
  for (let place = 0; place < size; place++) into[place] = wordAt(pattern, place);
  return into;
}
