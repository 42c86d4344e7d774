// Many patterns, found by a value: those that are words up to their end in flat tables, the others in a trie.
import { grantOfLeaf, type Leaf, leafOf, wordsBefore } from "./literal-form.ts";
import { LiteralPatterns } from "./literal-patterns.ts";
import { LiteralTable } from "./literal-table.ts";
import type { Segments, Sequence } from "./sequence.ts";
import { Trie } from "./trie.ts";

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
