// The log for its verifier, and retention: entries before a checkpoint can be removed, and the rest still verifies.
import type { ChainRow, ChainStore, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { type CommitLoop, writeFailure } from "../commit-loop.ts";
import { type Connection, type Head, numberOf, textOf } from "../connection.ts";
import { appendEntry, headOf } from "./append.ts";
import { firstUnindexed } from "./index-check.ts";
import { forgetFacts } from "./index-filler.ts";
import { rowsBetween } from "./leaf.ts";

export const chainRowsMax = 10_000;
export const checkpointsMax = 10_000;
const checkpointCharactersMax = 16_384;
/** Limits how long one commit blocks others. */
export const removedRowsMax = 2_000;

export class SqliteChainStore implements ChainStore {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  rows(from: number, count: number): Durable<readonly ChainRow[]> {
    return this.#loop.read((connection) => rowsFrom(connection, from, count));
  }

  checkpoints(from: number): Durable<readonly CheckpointRow[]> {
    return this.#loop.read((connection) => notesFrom(connection, from));
  }

  head(): Durable<Head> {
    return this.#loop.read(headOf);
  }

  first(): Durable<number> {
    return this.#loop.read(firstOf);
  }

  unindexed(from: number, to: number): Durable<number | null> {
    return this.#loop.read((connection) => firstUnindexed(connection, from, to));
  }

  async keepCheckpoint({ place, text }: CheckpointRow): Durable<null> {
    if (text.length > checkpointCharactersMax) return writeFailure("a checkpoint is too long");
    const kept = await this.#loop.write((connection) => {
      // INVARIANT: retention removes whole leaves, so a note is for the last entry of one.
      const leaf = connection.get("SELECT 1 AS there FROM leaf WHERE last = ?", place);
      if (leaf === undefined || place < firstOf(connection)) return false;
      // A second note for the same position is ignored.
      connection.run("INSERT INTO checkpoint (place, text) VALUES (?, ?) ON CONFLICT (place) DO NOTHING", place, text);
      return true;
    }, text.length);
    if (kept.ok && !kept.value)
      return writeFailure(`no commit ends with entry ${place}, so it cannot have a checkpoint`);
    return kept.ok ? { ok: true, value: null } : kept;
  }

  async prune(before: number, entry: LogEntry): Durable<{ readonly removed: number }> {
    const moved = await this.#loop.write((connection) => {
      const first = firstOf(connection);
      if (before <= first) return 0;
      // The signature of a commit is stored in its leaf, and has to be kept.
      connection.run(
        "INSERT OR IGNORE INTO checkpoint (place, text) SELECT last, note FROM leaf WHERE last = ? AND note IS NOT NULL",
        before - 1,
      );
      const noted = connection.get("SELECT 1 AS noted FROM checkpoint WHERE place = ?", before - 1);
      if (noted === undefined || before - 1 > headOf(connection).place) return null;
      connection.run("UPDATE progress SET first = ?1, facts = max(facts, ?1 - 1), words = max(words, ?1 - 1)", before);
      appendEntry(connection, entry);
      return before - first;
    });
    if (!moved.ok) return moved;
    if (moved.value === null) return writeFailure(`there is no checkpoint at entry ${before - 1}: nothing was removed`);
    const removed = await this.finishPruning();
    return removed.ok ? { ok: true, value: { removed: moved.value } } : removed;
  }

  /** Continues an interrupted run. */
  resume(): void {
    const left = this.#loop.readNow((connection) =>
      connection.get("SELECT 1 AS left FROM progress WHERE gone < first"),
    );
    if (left.ok && left.value !== undefined) void this.finishPruning();
  }

  /** Removes everything before the first position that remains, in steps. */
  async finishPruning(): Durable<null> {
    // Bounded by the number of rows: each step advances.
    for (;;) {
      const step = await this.#loop.write(removeStep);
      if (!step.ok) return step;
      if (!step.value) return { ok: true, value: null };
    }
  }
}

export function rowsFrom(connection: Connection, from: number, count: number): readonly ChainRow[] {
  const most = limited(count, chainRowsMax);
  const rows: ChainRow[] = [];
  if (most === 0) return rows;
  const start = Math.max(from, firstOf(connection));
  // If a whole range is missing, the verifier must still see what follows it.
  for (const to of [start + most - 1, Number.MAX_SAFE_INTEGER]) {
    for (const row of rowsBetween(connection, start, to)) if (rows.push(row) === most) break;
    if (rows.length > 0) break;
  }
  return rows;
}

/** Those of the checkpoint table, and the signatures of the commits. */
export function notesFrom(connection: Connection, from: number): readonly CheckpointRow[] {
  const notes = connection
    .all("SELECT place, text FROM checkpoint WHERE place >= ? ORDER BY place LIMIT ?", from, checkpointsMax)
    .map((row) => ({ place: numberOf(row, "place"), text: textOf(row, "text") }));
  return joinedNotes(notes, commitNotes(connection, from));
}

/**
 * The signatures stored in the leaves. Once one leaf is signed, all later ones are: a missing note is returned as an
 * empty one, which no verifier accepts.
 */
function commitNotes(connection: Connection, from: number): readonly CheckpointRow[] {
  return connection
    .all(COMMIT_NOTES, from, checkpointsMax)
    .map((row) => ({ place: numberOf(row, "last"), text: textOf(row, "note") }));
}

const COMMIT_NOTES = `SELECT last, coalesce(note, '') AS note FROM leaf WHERE last >= ?
  AND (note IS NOT NULL OR last > (SELECT min(last) FROM leaf WHERE note IS NOT NULL)) ORDER BY last LIMIT ?`;

/** One for each position, in order: if two lists overlap, the first wins. A truncated list ends the result. */
function joinedNotes(notes: readonly CheckpointRow[], others: readonly CheckpointRow[]): readonly CheckpointRow[] {
  const ends = [notes, others].map((list) =>
    list.length < checkpointsMax ? Number.POSITIVE_INFINITY : (list.at(-1)?.place ?? 0),
  );
  const end = Math.min(...ends);
  const byPlace = new Map([...others, ...notes].map((note) => [note.place, note]));
  return [...byPlace.values()].filter(({ place }) => place <= end).sort((one, other) => one.place - other.place);
}

/** Rows that are found by position alone. */
const REMOVE: readonly string[] = [
  "DELETE FROM fact WHERE place < ?",
  "DELETE FROM span WHERE last < ?",
  "DELETE FROM word WHERE rowid < CAST(? AS INTEGER)",
  "DELETE FROM leaf WHERE last < ?",
];

/** False if nothing is left to remove. */
function removeStep(connection: Connection): boolean {
  const row = connection.get("SELECT first, gone FROM progress");
  const [first, gone] = [numberOf(row, "first"), numberOf(row, "gone")];
  if (gone >= first) return false;
  const rows = [...rowsBetween(connection, gone, Math.min(first - 1, gone + removedRowsMax - 1))];
  const until = Math.min(first, gone + removedRowsMax);
  connection.run("UPDATE progress SET before = ?", first);
  forgetFacts(connection, rows, until);
  for (const text of REMOVE) connection.run(text, until);
  connection.run("UPDATE progress SET before = 0, gone = ?", until);
  return until < first;
}

export function firstOf(connection: Connection): number {
  return connection.progress.first;
}

function limited(count: number, most: number): number {
  return Math.min(Math.max(Math.trunc(count) || 0, 0), most);
}
