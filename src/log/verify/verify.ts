// Verifies that a log is the one that was written: every row continues the one before it, every signed note matches its
// row, and removals at either end are reported. Rows and notes arrive in order, in batches, and are untrusted.

import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainRow, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { CheckSignature } from "../../core/ports/stores/signing.ts";
import { chainHash, isHash, ZERO_HASH } from "../chain/chain.ts";
import { chainEvent } from "../chain/chain-events.ts";
import { parseCheckpoint, type SignedCheckpoint } from "../chain/checkpoint.ts";
import { KeyHistory } from "../chain/key-history.ts";
import { unsignedEntriesMax, unsignedProblem } from "../chain/unsigned-tail.ts";
import { Problems } from "./verify-problems.ts";

export interface VerifyPorts {
  readonly digest: Digest;
  readonly check: CheckSignature;
}

export interface ChainHead {
  readonly place: number;
  readonly hash: string;
}

export interface VerifyOptions {
  /** The first key, recorded when the log began. */
  readonly key: string;
  /** Notes in which a key names the next, also for pruned positions. */
  readonly rotations: readonly string[];
  /** The node that must own the log; null: any, but only one. */
  readonly node: string | null;
  /** The first position that remains: 1, or what retention left. */
  readonly first: number;
  /** Position and hash that were recorded elsewhere. */
  readonly head: ChainHead | null;
  /** The end whose signature the daemon stores outside the database. */
  readonly remembered?: ChainHead | null;
  /** A copy may have been read in the middle of a commit. */
  readonly isCopy?: boolean;
}

/** The entries of one leaf: what one signature covers. */
const leafEntriesMax = 64;
/** How many entries a copy can have before it has their note. */
export const copyUnsignedMax: number = leafEntriesMax;
/** Notes ahead of the rows, and keys that rows may name before a note does. */
const waitingNotesMax = 100_000;
const namedKeysMax = 1000;

export class Verifier {
  readonly #digest: Digest;
  readonly #given: VerifyOptions;
  readonly #keys: KeyHistory;
  readonly #problems = new Problems();
  /** Notes that name a key are supplied at the beginning and seen again on the way. */
  readonly #rotations: ReadonlySet<string>;
  readonly #named = new Set<string>();
  /** Ahead of the rows, by size. */
  readonly #waiting: SignedCheckpoint[] = [];
  #node: string | null;
  #place: number;
  /** Null if nothing determines it, which has been reported. */
  #hash: string | null;
  /** The hash before the first row. */
  #begin: string | null;
  #entries = 0;
  #notes = 0;
  /** The largest signed size. */
  #signed = 0;
  /** Whether a note says that every commit is signed. */
  #isEveryCommitSigned = false;
  /** The newest note in the order of positions, whichever key signed it. */
  #lastNote: { readonly place: number; readonly isEveryCommitSigned: boolean } = {
    place: 0,
    isEveryCommitSigned: false,
  };
  /** Of the first and the last entry after the last note. */
  #unsignedBodies: { readonly first: string; last: string } | null = null;
  /** Position of the entry that records a pruning. */
  #pruned: number | null = null;

  constructor({ digest, check }: VerifyPorts, given: VerifyOptions) {
    this.#digest = digest;
    this.#given = given;
    this.#keys = new KeyHistory(check, given.key);
    this.#node = given.node;
    this.#place = given.first - 1;
    this.#hash = given.first === 1 ? ZERO_HASH : null;
    this.#begin = this.#hash;
    this.#rotations = new Set(given.rotations);
    const notes = given.rotations.map((text) => ({ text, note: parseCheckpoint(text) }));
    for (const { text, note } of notes.sort((one, other) => (one.note?.size ?? 0) - (other.note?.size ?? 0)))
      this.#note(note?.size ?? 0, text);
  }

  /** Every note before the rows after its position. */
  checkpoint({ place, text }: CheckpointRow): void {
    if (!this.#rotations.has(text)) this.#note(place, text);
    this.#tellGap(place, text);
  }

  /** If every commit is signed, consecutive notes are at most a leaf apart: a larger gap means that notes are missing. */
  #tellGap(place: number, text: string): void {
    const note = typeof text === "string" ? parseCheckpoint(text) : null;
    if (note === null || note.size !== place || place < this.#given.first - 1) return;
    const { place: before, isEveryCommitSigned } = this.#lastNote;
    const gap = place - Math.max(before, this.#given.first - 1);
    const most = isEveryCommitSigned ? leafEntriesMax : unsignedEntriesMax;
    if (gap > most)
      this.#problems.tell(
        place,
        `no checkpoint covers the ${gap - 1} entries before this one: checkpoints were removed`,
      );
    if (place >= before) this.#lastNote = { place, isEveryCommitSigned: note.isEveryCommitSigned === true };
  }

  row({ place, body, hash }: ChainRow): void {
    const expected = this.#place + 1;
    if (!Number.isSafeInteger(place) || typeof body !== "string" || typeof hash !== "string") {
      this.#problems.tell(expected, "a row is not a valid entry");
      return;
    }
    if (place < expected) {
      this.#problems.tell(place, "the entry is duplicated or out of order");
      return;
    }
    if (place > expected) this.#problems.tell(expected, `${rangeText(expected, place - 1)} missing`);
    else if (this.#hash === null) this.#problems.tell(place, "the hash of the entry before this one is unknown");
    else if (chainHash(this.#digest, this.#hash, body) !== hash)
      this.#problems.tell(place, "the entry was changed or replaced");
    this.#place = place;
    this.#hash = isHash(hash) ? hash : null;
    this.#entries++;
    this.#readEvent(body);
    if (place > this.#signed) {
      if (this.#unsignedBodies === null) this.#unsignedBodies = { first: body, last: body };
      else this.#unsignedBodies.last = body;
    }
    this.#settleNotes();
    const { head, remembered } = this.#given;
    if (head?.place === place && head.hash !== this.#hash)
      this.#problems.tell(place, "the stored head has a different hash: entries up to here were rewritten");
    if (remembered?.place === place && remembered.hash !== this.#hash)
      this.#problems.tell(place, "the daemon stored a different signed hash: entries up to here were rewritten");
  }

  /** Searches would not find this entry, or find it as another one. */
  unindexed(place: number): void {
    this.#problems.tell(place, "the search index does not match this entry: the index was changed");
  }

  /** `head`: where the log itself says that it ends; null if it does not say. */
  end(head: ChainHead | null): VerifyReport {
    const { first, head: kept, remembered = null } = this.#given;
    const size = this.#waiting.at(-1)?.size;
    if (size !== undefined)
      this.#problems.tell(
        size,
        `${rangeText(this.#place + 1, size)} missing at the end: a checkpoint was signed for them`,
      );
    if (head !== null && (head.place !== this.#place || head.hash !== (this.#hash ?? head.hash)))
      this.#problems.tell(this.#place, `the log ends here, but its recorded end is entry ${head.place}`);
    if (kept !== null) this.#endWithHead(kept);
    if (remembered !== null && remembered.place > this.#place)
      this.#problems.tell(
        this.#place,
        `${rangeText(this.#place + 1, remembered.place)} missing at the end: the daemon stored their signature`,
      );
    if (first > 1 && (this.#pruned === null || this.#pruned > this.#signed))
      this.#problems.tell(first, "entries before this one are missing, and no signed entry records their removal");
    const unsigned = Math.max(0, this.#place - Math.max(this.#signed, first - 1));
    this.#tellUnsigned(unsigned);
    const problems = this.#problems.listed();
    return {
      isIntact: problems.length === 0,
      entries: this.#entries,
      from: first,
      head: { place: this.#place, hash: this.#hash ?? ZERO_HASH },
      checkpoints: this.#notes,
      unsigned,
      problems,
    };
  }

  #tellUnsigned(unsigned: number): void {
    if (this.#entries > 0 && this.#notes === 0) {
      this.#problems.tell(this.#place, "no entry is signed: checkpoints were removed, or never written");
      return;
    }
    const { first = "", last = "" } = this.#unsignedBodies ?? {};
    if (!this.#isEveryCommitSigned) {
      const wrong = unsignedProblem(unsigned, first, last);
      if (wrong !== null) this.#problems.tell(this.#place, wrong);
    } else if (unsigned > (this.#given.isCopy === true ? copyUnsignedMax : 0))
      this.#problems.tell(
        this.#place,
        `the last ${unsigned} entries are not signed, although this log signs every commit: they were not written by its daemon`,
      );
  }

  #note(place: number, text: string): void {
    const note = typeof text === "string" ? parseCheckpoint(text) : null;
    const wrong =
      note === null || note.size !== place ? "is not a valid checkpoint of this entry" : this.#wrongNote(note);
    if (wrong !== null) this.#problems.tell(Number.isSafeInteger(place) ? place : 0, `the checkpoint here ${wrong}`);
    // For pruned entries only the chain of keys is left to verify.
    else if (place >= this.#given.first - 1) {
      this.#notes++;
      this.#signed = Math.max(this.#signed, place);
      if (note?.isEveryCommitSigned === true) this.#isEveryCommitSigned = true;
      if (this.#signed >= this.#place) this.#unsignedBodies = null;
      this.#wait(note as SignedCheckpoint);
      this.#settleNotes();
    }
  }

  #wrongNote(note: SignedCheckpoint): string | null {
    this.#node ??= note.node;
    if (note.node !== this.#node) return "belongs to another log";
    if (this.#entries > 0 && note.size < this.#place) return "follows later entries";
    if (this.#waiting.length >= waitingNotesMax) return "is one of too many checkpoints ahead of their entries";
    return this.#keys.take(note);
  }

  #wait(note: SignedCheckpoint): void {
    let at = this.#waiting.length;
    while (at > 0 && (this.#waiting[at - 1] as SignedCheckpoint).size > note.size) at--;
    this.#waiting.splice(at, 0, note);
  }

  #settleNotes(): void {
    for (let note = this.#waiting[0]; note !== undefined && note.size <= this.#place; note = this.#waiting[0]) {
      this.#waiting.shift();
      this.#settle(note);
    }
  }

  #settle({ size, hash, next }: SignedCheckpoint): void {
    // A pruned log begins with a note: nothing else determines the hash before it.
    if (this.#entries === 0) this.#begin ??= this.#hash ??= hash;
    if (size < this.#place) this.#problems.tell(size, "the entry that the checkpoint here was signed for is missing");
    else if (hash !== this.#hash)
      this.#problems.tell(
        size,
        "the checkpoint here was signed for a different hash: entries up to here were rewritten",
      );
    if (next !== null && size >= this.#given.first && !this.#named.has(next))
      this.#problems.tell(size, "the checkpoint here names a new key, but no entry records the rotation");
  }

  #readEvent(body: string): void {
    const event = chainEvent(body);
    if (event?.kind === "rotated" && this.#named.size < namedKeysMax) this.#named.add(event.next);
    if (event?.kind === "pruned" && event.first === this.#given.first) this.#pruned ??= this.#place;
  }

  #endWithHead({ place, hash }: ChainHead): void {
    const { first } = this.#given;
    if (place > this.#place)
      this.#problems.tell(
        place,
        `${rangeText(this.#place + 1, place)} missing at the end: the stored head includes them`,
      );
    else if (place < first - 1)
      this.#problems.tell(place, "the stored head is of an entry that was removed from the log, so it proves nothing");
    else if (place === first - 1 && hash !== this.#begin)
      this.#problems.tell(place, "the stored head differs from the hash this log begins with");
  }
}

function rangeText(from: number, to: number): string {
  return from === to ? `entry ${from} is` : `entries ${from} to ${to} are`;
}
