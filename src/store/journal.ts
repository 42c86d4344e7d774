// Small commits on their way to the database: written down in one step, in a file that is there already, and put into
// the database many at once. What stands here and is not in the database yet counts as if it were.
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { chainHash } from "../audit/chain.ts";
import type { Digest } from "../ports/digest.ts";
import { JOURNAL_FILE } from "./folder.ts";
import { type Leaf, rowsIn } from "./leaf.ts";

/** Its size never changes: a file that grows takes the disk twice as long. */
export const journalBytes: number = 1024 * 1024;
/** A larger commit costs no more in the database itself. */
export const recordBytesMax: number = 16 * 1024;

/** How long it is, the first and the last place, and a hash of all of it and of the chain before it. */
const HEADER = /^( *\d{1,8}) ( *\d{1,16}) ( *\d{1,16}) ([0-9a-f]{64})\n/;
const headerBytes = 8 + 1 + 16 + 1 + 16 + 1 + 64 + 1;

export interface JournalPlace {
  readonly folder: string;
  readonly platform: string;
  readonly digest: Digest;
}

export class Journal {
  readonly #place: JournalPlace;
  readonly #file: number;
  #at = 0;

  private constructor(place: JournalPlace, file: number) {
    this.#place = place;
    this.#file = file;
  }

  /** Null where there is none and none is made. Throws where it cannot be opened: nothing is known then. */
  static open(place: JournalPlace, isMade: boolean): Journal | null {
    const path = join(place.folder, JOURNAL_FILE);
    const { O_CREAT, O_DSYNC, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
    if (!isMade && lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const flags = O_RDWR | (isMade ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | (isFlushedApart(place) ? 0 : O_DSYNC);
    return new Journal(place, openSync(path, flags, 0o600));
  }

  /** The leaves that stand behind the chain's end, as far as they are whole. What was put into the database already is none. */
  leaves(end: { readonly place: number; readonly hash: string }): readonly Leaf[] {
    const bytes = this.#bytes();
    const leaves: Leaf[] = [];
    let { place, hash } = end;
    for (let at = 0; ; ) {
      const [, length, first, last, noted] = HEADER.exec(bytes.toString("latin1", at, at + headerBytes)) ?? [];
      if (length === undefined) return leaves;
      const start = at + headerBytes;
      at = start + Number(length);
      // Whoever put it in may not have seen what stands behind it.
      if (Number(last) <= place) continue;
      if (Number(first) !== place + 1) return leaves;
      const text = bytes.toString("utf8", start, at);
      if (chainHash(this.#place.digest, hash, `${first} ${last}\n${text}`) !== noted) return leaves;
      const leaf = leafIn(Number(first), Number(last), text);
      const row = rowsIn(leaf).at(-1);
      if (row === undefined || row.place !== leaf.last) return leaves;
      leaves.push(leaf);
      ({ place, hash } = row);
    }
  }

  /** Makes it as long as it stays. Nothing that stands in it is changed. */
  fill(): void {
    const { size } = fstatSync(this.#file);
    if (size >= journalBytes) return;
    // First: where it is long enough, its name is on disk too, whenever we were interrupted.
    const folder = openSync(this.#place.folder, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    this.#write(Buffer.alloc(journalBytes - size), size);
    fsyncSync(this.#file);
  }

  /** A leaf behind the chain's end as it stands here; null where there is no room for it, or it is too large. */
  recordOf(leaf: Leaf, before: string): Uint8Array | null {
    const note = leaf.note === null ? "" : `\n${JSON.stringify(leaf.note)}`;
    const text = `${leaf.accounts ?? ""}\n${leaf.entries}${note}`;
    const bytes = Buffer.byteLength(text);
    if (bytes > recordBytesMax || this.#at + headerBytes + bytes > journalBytes) return null;
    const [first, last] = [String(leaf.first).padStart(16), String(leaf.last).padStart(16)];
    const hash = chainHash(this.#place.digest, before, `${first} ${last}\n${text}`);
    return Buffer.from(`${String(bytes).padStart(8)} ${first} ${last} ${hash}\n${text}`);
  }

  /** On disk when it returns; where it throws, nobody knows. */
  write(record: Uint8Array): void {
    this.#write(record, this.#at);
    this.#at += record.length;
  }

  /** Everything in it is in the database: it is written from its beginning again. */
  rewind(): void {
    this.#at = 0;
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(bytes: Uint8Array, at: number): void {
    for (let from = 0; from < bytes.length; ) {
      const written = writeSync(this.#file, bytes, from, bytes.length - from, at + from);
      if (written === 0) throw new Error("the journal takes no more");
      from += written;
    }
    if (isFlushedApart(this.#place)) fdatasyncSync(this.#file);
  }

  #bytes(): Buffer {
    const bytes = Buffer.alloc(Math.min(fstatSync(this.#file).size, journalBytes));
    for (let from = 0; from < bytes.length; ) {
      const count = readSync(this.#file, bytes, from, bytes.length - from, from);
      if (count === 0) return bytes.subarray(0, from);
      from += count;
    }
    return bytes;
  }
}

/** There the flag alone reaches no further than the disk's own memory. */
function isFlushedApart({ platform }: JournalPlace): boolean {
  return platform !== "linux";
}

/** Accounts in the first line, then the entries; a signed note, where there is one, in the last line. */
function leafIn(first: number, last: number, text: string): Leaf {
  const end = text.indexOf("\n");
  const noteAt = text.lastIndexOf("\n") + 1;
  const isSigned = text.startsWith('"', noteAt);
  return {
    first,
    last,
    accounts: end <= 0 ? null : text.slice(0, end),
    entries: text.slice(end + 1, isSigned ? noteAt - 1 : undefined),
    note: isSigned ? noteIn(text.slice(noteAt)) : null,
  };
}

function noteIn(line: string): string | null {
  try {
    const note: unknown = JSON.parse(line);
    return typeof note === "string" ? note : null;
  } catch {
    // Whoever wrote this, it is no signature; opening the state refuses what is not signed.
    return null;
  }
}
