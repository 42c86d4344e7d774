// Matches many patterns at once, one step a byte: the Aho-Corasick automaton. Nodes with few children have a linked
// list; nodes with many, and those near the root, have a table row with an entry for each byte.

const rowsFromChildren = 3;

/** Patterns that end here: the length of the longest, and the owners of all of them. */
export interface PatternMatch {
  readonly length: number;
  /** Indexes into the list of owners, ascending. */
  readonly owners: readonly number[];
}

export interface Pattern {
  readonly bytes: Uint8Array;
  readonly owner: number;
}

export class Automaton {
  /** Length of the longest pattern. */
  readonly longest: number;
  readonly shortest: number;
  /** How many of the bytes read may be the beginning of a pattern. */
  readonly depth: Int32Array;
  /** For each state: the byte that leads to it, its first child, its next sibling, its failure link. */
  readonly #byte: Uint8Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fail: Int32Array;
  /** Index of its row; negative if it has none. */
  readonly #row: Int32Array;
  #rows: Int32Array = new Int32Array(0);
  /** Index into the list; zero if no pattern ends. */
  readonly #ends: Int32Array;
  readonly #found: (PatternMatch | null)[] = [null];
  #count = 1;

  constructor(patterns: readonly Pattern[]) {
    const size = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1);
    this.depth = new Int32Array(size);
    this.#byte = new Uint8Array(size);
    this.#child = new Int32Array(size);
    this.#sibling = new Int32Array(size);
    this.#fail = new Int32Array(size);
    this.#row = new Int32Array(size).fill(-1);
    this.#ends = new Int32Array(size);
    for (const pattern of patterns) this.#add(pattern);
    this.longest = patterns.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
    this.shortest = patterns.reduce((least, { bytes }) => Math.min(least, bytes.length), this.longest);
    this.#join();
  }

  /** The state after one more byte. Each failure makes the state shallower, so all steps together are linear. */
  next(state: number, byte: number): number {
    for (let at = state; ; at = this.#fail[at] as number) {
      const row = this.#row[at] as number;
      if (row >= 0) return this.#rows[(row << 8) | byte] as number;
      for (let child = this.#child[at] as number; child !== 0; child = this.#sibling[child] as number)
        if (this.#byte[child] === byte) return child;
    }
  }

  found(state: number): PatternMatch | null {
    return this.#found[this.#ends[state] as number] as PatternMatch | null;
  }

  /** Leaves nothing of the patterns in memory. */
  wipe(): void {
    this.#byte.fill(0);
    this.#rows.fill(0);
    this.#child.fill(0);
    this.#row.fill(-1);
    this.#row[0] = 0;
    this.#ends.fill(0);
  }

  #end(state: number, found: PatternMatch): void {
    this.#ends[state] = this.#found.push(found) - 1;
  }

  #add({ bytes, owner }: Pattern): void {
    let state = 0;
    for (const byte of bytes) {
      let child = this.#child[state] as number;
      while (child !== 0 && this.#byte[child] !== byte) child = this.#sibling[child] as number;
      if (child === 0) {
        child = this.#count++;
        this.#byte[child] = byte;
        this.#sibling[child] = this.#child[state] as number;
        this.#child[state] = child;
        this.depth[child] = (this.depth[state] as number) + 1;
      }
      state = child;
    }
    if (state !== 0) this.#end(state, together({ length: bytes.length, owners: [owner] }, this.found(state)));
  }

  /** From the root down, so that a state's failure link is known before its children are visited. */
  #join(): void {
    const order = new Int32Array(this.#count);
    let last = 1;
    const dense: number[] = [];
    for (let at = 0; at < last; at++) {
      const state = order[at] as number;
      let children = 0;
      for (let child = this.#child[state] as number; child !== 0; child = this.#sibling[child] as number) {
        order[last++] = child;
        children++;
      }
      if ((this.depth[state] as number) <= 1 || children >= rowsFromChildren) dense.push(state);
    }
    this.#rows = new Int32Array(dense.length << 8);
    let rows = 0;
    for (const state of order) {
      const fail = this.#fail[state] as number;
      const [own, shorter] = [this.found(state), this.found(fail)];
      if (own === null) this.#ends[state] = this.#ends[fail] as number;
      else if (shorter !== null && state !== 0) this.#end(state, together(own, shorter));
      for (let child = this.#child[state] as number; child !== 0; child = this.#sibling[child] as number)
        this.#fail[child] = state === 0 ? 0 : this.next(fail, this.#byte[child] as number);
      if (dense[rows] !== state) continue;
      const row = rows++ << 8;
      if (state !== 0) for (let byte = 0; byte < 256; byte++) this.#rows[row | byte] = this.next(fail, byte);
      for (let child = this.#child[state] as number; child !== 0; child = this.#sibling[child] as number)
        this.#rows[row | (this.#byte[child] as number)] = child;
      this.#row[state] = row >> 8;
    }
  }
}

function together(one: PatternMatch, other: PatternMatch | null): PatternMatch {
  if (other === null) return one;
  const owners = [...new Set([...one.owners, ...other.owners])].sort((left, right) => left - right);
  return { length: Math.max(one.length, other.length), owners };
}
