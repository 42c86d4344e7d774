// Leaves of the log: the entries of one commit in one row, because the overhead of a row exceeds the size of an entry.
import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import type { LogEnd } from "../../core/ports/stores/notary.ts";
import { type Connection, numberOf, textOf } from "../connection.ts";
import type { Row } from "../sqlite.ts";

/** Reading one entry reads its whole leaf. */
const leafEntriesMax = 64;
const leafCharactersMax: number = 64 * 1024;
const hashCharacters = 64;

const [BEGIN, BETWEEN, END] = ["[\n", ",\n", "\n]"];
const [BEFORE_HASH, AFTER_HASH, AFTER_BODY] = ['["', '",', "]"];

/** A body is canonical JSON, so it contains no line break. */
export function lineOf(hash: string, body: string): string {
  return BEFORE_HASH + hash + AFTER_HASH + body + AFTER_BODY;
}

/** One row of the log's table. */
export interface Leaf {
  readonly first: number;
  readonly last: number;
  readonly entries: string;
  /** The signed note of its last entry; null in logs of versions that did not sign every commit. */
  readonly note: string | null;
}

/** Signs the last entry of a leaf. */
export type SignEnd = (end: LogEnd) => string;

/** Leaves of the lines that end at this position. */
export function leavesOf(lines: readonly string[], last: number, sign: SignEnd | null): readonly Leaf[] {
  const leaves: Leaf[] = [];
  let first = last - lines.length + 1;
  let from = 0;
  let characters = 0;
  for (let at = 0; at < lines.length; at++) {
    characters += (lines[at] as string).length;
    const isFull = at + 1 - from >= leafEntriesMax || characters >= leafCharactersMax;
    if (!isFull && at + 1 < lines.length) continue;
    const entries = BEGIN + lines.slice(from, at + 1).join(BETWEEN) + END;
    const next = first + at + 1 - from;
    const end = { place: next - 1, hash: hashIn(lines[at] as string) };
    const note = sign === null ? null : sign(end);
    leaves.push({ first, last: end.place, entries, note });
    [first, from, characters] = [next, at + 1, 0];
  }
  return leaves;
}

/** The entries of a leaf as stored, unverified: the caller checks the chain. */
export function rowsOf(leaf: Row): ChainRow[] {
  return rowsIn({ first: numberOf(leaf, "first"), entries: textOf(leaf, "entries") });
}

export function rowsIn({ first, entries }: Pick<Leaf, "first" | "entries">): ChainRow[] {
  const lines = entries.slice(BEGIN.length, -END.length).split(BETWEEN);
  const bodyAt = BEFORE_HASH.length + hashCharacters + AFTER_HASH.length;
  return lines.map((line, at) => ({
    place: first + at,
    body: line.slice(bodyAt, -AFTER_BODY.length),
    hash: hashIn(line),
  }));
}

function hashIn(line: string): string {
  return line.slice(BEFORE_HASH.length, BEFORE_HASH.length + hashCharacters);
}

/** Every entry from one position to another, inclusive, a few leaves at a time, on demand. */
export function* rowsBetween(
  connection: Connection,
  from: number,
  to: number,
  order: "ASC" | "DESC" = "ASC",
): Generator<ChainRow> {
  let [low, high] = [from, to];
  // Starts small, so that a caller that needs few entries reads few.
  for (let atOnce = leavesAtOnceMin; low <= high; atOnce = Math.min(atOnce * 2, leavesAtOnceMax)) {
    // Leaves do not overlap: of those that end at or after `high`, the first contains it.
    const leaves = connection.all(order === "ASC" ? UPWARDS : DOWNWARDS, ...[low, high, atOnce]);
    for (const leaf of leaves) {
      const rows = rowsOf(leaf);
      for (const row of order === "ASC" ? rows : rows.reverse()) if (row.place >= from && row.place <= to) yield row;
      if (order === "ASC") low = numberOf(leaf, "last") + 1;
      else high = numberOf(leaf, "first") - 1;
    }
    if (leaves.length < atOnce) return;
  }
}

const leavesAtOnceMin = 4;
const leavesAtOnceMax = 64;
const BETWEEN_PLACES = `SELECT last, first, entries FROM leaf
  WHERE last >= ?1 AND last <= coalesce((SELECT min(last) FROM leaf WHERE last >= ?2), ?2)`;
const UPWARDS = `${BETWEEN_PLACES} ORDER BY last LIMIT ?3`;
const DOWNWARDS = `${BETWEEN_PLACES} ORDER BY last DESC LIMIT ?3`;

/** Every entry between two positions, inclusive, whose body contains this text. */
export function* rowsHolding(connection: Connection, from: number, to: number, text: string): Generator<ChainRow> {
  const leaves = connection.all(`${BETWEEN_PLACES} AND instr(entries, ?3) ORDER BY last`, ...[from, to, text]);
  for (const leaf of leaves)
    for (const row of rowsOf(leaf)) if (row.place >= from && row.place <= to && row.body.includes(text)) yield row;
}

export function rowAt(connection: Connection, place: number): ChainRow | null {
  const leaf = connection.get("SELECT first, entries FROM leaf WHERE last >= ? ORDER BY last LIMIT 1", place);
  return leaf === undefined ? null : (rowsOf(leaf).find((row) => row.place === place) ?? null);
}
