// The entries of one map while it is read, and the rule that each key occurs once.

import { quoteText } from "../core/notation/quote-text.ts";
import type { Range } from "../core/notation/source.ts";
import type { Entry, TreeNode } from "../core/notation/tree.ts";
import type { Draft } from "./draft.ts";

/** INVARIANT: no duplicate key. `__proto__` is an ordinary key: entries are never properties of an object. */
export class Entries {
  readonly list: Entry[] = [];
  readonly #seen = new Set<string>();
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Null stands for a value that was itself refused; the key then still counts as used. */
  add(key: string, keyRange: Range, value: TreeNode | null): void {
    if (!this.#draft.plain(key, keyRange)) return;
    if (this.#seen.has(key)) {
      this.#draft.refuse("syntax", keyRange, `the key ${quoteText(key)} is repeated here`, "keep one of the two");
      return;
    }
    this.#seen.add(key);
    if (value !== null) this.list.push({ key, keySpan: this.#draft.span(keyRange), value });
  }
}
