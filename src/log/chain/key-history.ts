// Which key may sign which part of the log: the first one is pinned, and each names its successor at one position in
// the log.

import type { CheckSignature } from "../../core/ports/stores/signing.ts";
import { keyNumber, type SignedCheckpoint } from "./checkpoint.ts";

/** Limit on successive keys; no real log reaches it. */
const keysMax = 10_000;

interface KeyTerm {
  readonly key: string;
  /** It signs for sizes from here to there. */
  readonly from: number;
  readonly to: number;
}

export class KeyHistory {
  readonly #check: CheckSignature;
  readonly #terms: KeyTerm[];

  constructor(check: CheckSignature, pinned: string) {
    this.#check = check;
    this.#terms = [{ key: pinned, from: 0, to: Number.POSITIVE_INFINITY }];
  }

  /** The problem of a note, or null if the key valid at its position signed it. A key that it names then becomes valid. */
  take(note: SignedCheckpoint): string | null {
    const term = this.#signerOf(note);
    if (typeof term === "string") return term;
    if (note.size > term.to) return `is signed with a key that was retired at entry ${term.to}`;
    if (note.size < term.from) return `is signed with a key that is valid only from entry ${term.from} on`;
    return note.next === null ? null : this.#succeed(term, note.size, note.next);
  }

  #signerOf({ keyNumber: number, signed, signature }: SignedCheckpoint): KeyTerm | string {
    const named = this.#terms.filter(({ key }) => keyNumber(key) === number);
    if (named.length === 0) return "is signed with an unknown key";
    return named.find(({ key }) => this.#check(key, signed, signature)) ?? "has an invalid signature";
  }

  #succeed(term: KeyTerm, place: number, next: string): string | null {
    const at = this.#terms.indexOf(term);
    const after = this.#terms[at + 1];
    if (after !== undefined)
      return after.key === next && term.to === place ? null : "names a second successor of a retired key";
    if (this.#terms.some(({ key }) => key === next)) return "names a key that was used before";
    if (this.#terms.length >= keysMax) return "names more keys than a log may have";
    this.#terms[at] = { ...term, to: place };
    this.#terms.push({ key: next, from: place, to: Number.POSITIVE_INFINITY });
    return null;
  }
}
