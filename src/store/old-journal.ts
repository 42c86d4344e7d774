// Reads `state.journal` once. Versions of the state before 3 wrote small commits there first (decision 0042), so a
// state that was not closed may have acknowledged entries in it. They are moved into the database, then the file is
// removed.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Notary } from "../core/ports/stores/notary.ts";
import { chainHash } from "../log/chain/chain.ts";
import { type Connection, numberOf } from "./connection.ts";
import { OLD_JOURNAL_FILE } from "./folder.ts";
import { headOf } from "./log/append.ts";
import { type Leaf, rowsIn } from "./log/leaf.ts";
import { damageText, tailProblem } from "./log/tail.ts";
import { migrate, schema } from "./schema.ts";

/** The last version of the tables that had a journal beside them. */
const journalVersion = 2;
const journalBytesMax = 1024 * 1024;
/** Length, first and last position, and a hash of the record and of the chain before it. */
const HEADER = /^( *\d{1,8}) ( *\d{1,16}) ( *\d{1,16}) ([0-9a-f]{64})\n/;
const headerBytes = 8 + 1 + 16 + 1 + 16 + 1 + 64 + 1;

/** A leaf in the format of the journal and of the tables up to version 2: with the counts of the accounts it charged. */
interface OldLeaf extends Leaf {
  readonly accounts: string | null;
}

/** Whether entries may be in a journal and not in the database. A new database beside an old journal is another log. */
export function hasOldJournal(connection: Connection, folder: string): boolean {
  const version = numberOf(connection.get("PRAGMA user_version"), "user_version");
  if (version < 1 || version > journalVersion) return false;
  return lstatSync(join(folder, OLD_JOURNAL_FILE), { throwIfNoEntry: false }) !== undefined;
}

/** Null once the database has every entry of the journal and the journal is removed; else what is wrong. */
export function importOldJournal(connection: Connection, folder: string): string | null {
  if (!hasOldJournal(connection, folder)) return null;
  const path = join(folder, OLD_JOURNAL_FILE);
  const problem = migrate(connection, schema.slice(0, journalVersion)) ?? insertLeaves(connection, path);
  // INVARIANT: the journal is removed only once the entries are durable and the log is intact. Damage keeps its
  // evidence.
  const damage = problem ?? tailProblem(connection);
  if (damage === null) rmSync(path);
  return damage;
}

function insertLeaves(connection: Connection, path: string): string | null {
  connection.begin();
  try {
    // Under the write lock: another process may have imported the same journal.
    connection.forget();
    const leaves = leavesIn(bytesOf(path), connection);
    const unsigned = leaves.find((leaf) => !isSigned(leaf, connection.notary));
    if (unsigned !== undefined) {
      connection.rollback();
      connection.forget();
      return damageText(`the journal has unsigned entries from ${unsigned.first} on`);
    }
    for (const { last, first, accounts, entries, note } of leaves)
      connection.run(
        "INSERT INTO leaf (last, first, accounts, entries, note) VALUES (?, ?, ?, ?, ?)",
        ...[last, first, accounts, entries, note],
      );
    connection.commit();
    connection.forget();
    return null;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/** The records that continue the chain of the database. A torn record was never acknowledged, and ends the list. */
function leavesIn(bytes: Buffer, connection: Connection): readonly OldLeaf[] {
  const leaves: OldLeaf[] = [];
  let { place, hash } = headOf(connection);
  // Bounded by the bytes: each record has a header.
  for (let at = 0; ; ) {
    const [, length, first, last, noted] = HEADER.exec(bytes.toString("latin1", at, at + headerBytes)) ?? [];
    if (length === undefined) return leaves;
    const start = at + headerBytes;
    at = start + Number(length);
    // The database has it already.
    if (Number(last) <= place) continue;
    const text = bytes.toString("utf8", start, at);
    const isNext = Number(first) === place + 1;
    if (!isNext || chainHash(connection.digest, hash, `${first} ${last}\n${text}`) !== noted) return leaves;
    const leaf = leafIn(Number(first), Number(last), text);
    const end = rowsIn(leaf).at(-1);
    if (end === undefined || end.place !== leaf.last) return leaves;
    leaves.push(leaf);
    ({ place, hash } = end);
  }
}

/** Accounts in the first line, then the entries, then the signed note as a JSON string if there is one. */
function leafIn(first: number, last: number, text: string): OldLeaf {
  const end = text.indexOf("\n");
  const noteAt = text.lastIndexOf("\n") + 1;
  const hasNote = text.startsWith('"', noteAt);
  return {
    first,
    last,
    accounts: end <= 0 ? null : text.slice(0, end),
    entries: text.slice(end + 1, hasNote ? noteAt - 1 : undefined),
    note: hasNote ? String(JSON.parse(text.slice(noteAt))) : null,
  };
}

/** Logs of versions that did not sign every commit have no remembered end, and unsigned leaves. */
function isSigned(leaf: Leaf, notary: Notary | null): boolean {
  if (notary === null || notary.remembered() === null) return true;
  const end = rowsIn(leaf).at(-1);
  return end !== undefined && leaf.note !== null && notary.isSigned(leaf.note, end);
}

function bytesOf(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, journalBytesMax));
    for (let from = 0; from < bytes.length; ) {
      const count = readSync(file, bytes, from, bytes.length - from, from);
      if (count === 0) return bytes.subarray(0, from);
      from += count;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
