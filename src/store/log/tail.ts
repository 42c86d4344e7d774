// A quick check of the end of the chain before anything is appended: the entries since the last checkpoint must be
// chained, and if commits are signed, the end is signed and not before the end remembered outside.

import type { LogEnd, Notary } from "../../core/ports/stores/notary.ts";
import { chainHash, ZERO_HASH } from "../../log/chain/chain.ts";
import { parseCheckpoint } from "../../log/chain/checkpoint.ts";
import { unsignedProblem } from "../../log/chain/unsigned-tail.ts";
import { type Connection, type Head, numberOf, textOf } from "../connection.ts";
import { headOf } from "./append.ts";
import { rowAt, rowsBetween } from "./leaf.ts";

/** More than a checkpoint is ever behind; the verifier checks the whole chain. */
export const tailRowsMax = 20_000;

/** Null if it is intact; else what is wrong and what to do. */
export function tailProblem(connection: Connection): string | null {
  const head = headOf(connection);
  const first = numberOf(connection.get("SELECT first FROM progress"), "first");
  const noted = connection.get("SELECT max(place) AS place FROM checkpoint")?.["place"] ?? null;
  const checkpoint = typeof noted === "number" ? noted : 0;
  if (checkpoint > head.place) return damageText(`entries ${head.place + 1} to ${checkpoint} are missing`);
  if (head.place < first - 1) return damageText(`entries up to ${first - 1} are missing`);
  if (checkpoint >= first && !isAsNoted(connection, checkpoint))
    return damageText(`entry ${checkpoint} differs from what was signed`);
  const from = Math.max(checkpoint, first, head.place - tailRowsMax);
  let place = Math.max(from - 1, 0);
  let hash = from <= 1 ? ZERO_HASH : null;
  for (const row of rowsBetween(connection, from, head.place)) {
    if (row.place !== place + 1) return damageText(`entry ${place + 1} is missing`);
    place = row.place;
    // The row before the first one checked may be pruned: its hash is accepted here, the verifier checks it.
    if (hash !== null && chainHash(connection.digest, hash, row.body) !== row.hash)
      return damageText(`entry ${place} differs from what was written`);
    hash = row.hash;
  }
  if (place !== head.place) return damageText(`entry ${place + 1} is missing`);
  const { notary } = connection;
  const unsigned = notary === null ? null : signatureProblem(connection, notary, { head, first, checkpoint });
  return unsigned === null ? null : damageText(unsigned);
}

interface Tail {
  readonly head: Head;
  /** The first position that remains. */
  readonly first: number;
  /** The position of the newest note of the checkpoint table, or 0. */
  readonly checkpoint: number;
}

/** INVARIANT: null only if this log ends with what this key signed, at or after the end remembered outside. */
function signatureProblem(connection: Connection, notary: Notary, { head, first, checkpoint }: Tail): string | null {
  const remembered = notary.remembered();
  if (remembered === null) return head.place === 0 ? null : olderProblem(connection, notary, head, checkpoint);
  if (head.place < remembered.place)
    return `entries ${head.place + 1} to ${remembered.place} are missing: their signature is stored in keys/head`;
  const wrong = rememberedProblem(connection, notary, remembered, first);
  if (wrong !== null) return wrong;
  const leaf = connection.get("SELECT note FROM leaf WHERE last = ?", head.place);
  const note = leaf?.["note"];
  if (typeof note === "string" && notary.isSigned(note, head)) return null;
  return `the last entries, up to ${head.place}, are not signed`;
}

function rememberedProblem(connection: Connection, notary: Notary, remembered: LogEnd, first: number): string | null {
  if (remembered.place >= first)
    return rowAt(connection, remembered.place)?.hash === remembered.hash
      ? null
      : `entry ${remembered.place} differs from the one whose signature is stored in keys/head`;
  // It was pruned: then a note of ours must be where the log begins now.
  const row = connection.get("SELECT text FROM checkpoint WHERE place = ?", first - 1);
  const text = row === undefined ? "" : textOf(row, "text");
  const hash = parseCheckpoint(text)?.hash ?? "";
  const isHeld = notary.isSigned(text, { place: first - 1, hash });
  return isHeld && (remembered.place < first - 1 || remembered.hash === hash)
    ? null
    : `no valid checkpoint has the hash of the entry before ${first}`;
}

/** Logs from before commits were signed: there must be a note of ours, and only a bounded tail after it. */
function olderProblem(connection: Connection, notary: Notary, head: Head, checkpoint: number): string | null {
  const row = connection.get("SELECT text FROM checkpoint WHERE place = ?", checkpoint);
  const text = row === undefined ? "" : textOf(row, "text");
  const hash = parseCheckpoint(text)?.hash ?? "";
  if (row === undefined || !notary.isSigned(text, { place: checkpoint, hash }))
    return "it has entries, but no checkpoint signed with its key";
  if (head.place === checkpoint) return null;
  const [oldest, newest] = [rowAt(connection, checkpoint + 1), rowAt(connection, head.place)];
  return unsignedProblem(head.place - checkpoint, oldest?.body ?? "", newest?.body ?? "");
}

/** The verifier reports unreadable notes. */
function isAsNoted(connection: Connection, place: number): boolean {
  const note = parseCheckpoint(textOf(connection.get("SELECT text FROM checkpoint WHERE place = ?", place), "text"));
  return note === null || note.hash === rowAt(connection, place)?.hash;
}

export function damageText(what: string): string {
  return `the log is damaged: ${what}. Every call is denied. Copy the state folder, inspect the log with "ambit audit verify", then move state.db and keys/head away to start a new log`;
}
