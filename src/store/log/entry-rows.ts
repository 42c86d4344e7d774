// Entries of the log as rows: at a position, by id, and the follow-up entries of one.

import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import type { ChainedEntry } from "../../core/ports/stores/log.ts";
import { canonicalJson } from "../../log/chain/canonical.ts";
import { readEntryBody } from "../../log/chain/entry-body.ts";
import { type Connection, numberOf } from "../connection.ts";
import type { Row } from "../sqlite.ts";
import { headOf } from "./append.ts";
import { firstOf } from "./chain.ts";
import { factsOf } from "./fact-index.ts";
import { rowsHolding, rowsOf } from "./leaf.ts";
import { logEntriesMax } from "./log-conditions.ts";

/** Entries in the index with this id or prefix: at most two, which means ambiguous. */
export function entriesById(connection: Connection, id: string, isWhole: boolean): readonly ChainedEntry[] {
  const first = firstOf(connection);
  const rows = isWhole
    ? connection.all("SELECT place FROM fact_id WHERE id = ? AND place >= ?", id, first)
    : connection.all(
        "SELECT place FROM fact_id WHERE id > ? AND id < ? AND place >= ? ORDER BY id LIMIT 2",
        ...[id, `${id}\u{10ffff}`, first],
      );
  return entriesAt(connection, rows);
}

/** All follow-up entries of an entry in the index, in order. */
export function moreOf(connection: Connection, id: string): readonly ChainedEntry[] {
  return entriesAt(
    connection,
    connection.all("SELECT place FROM fact_of WHERE of = ? ORDER BY place LIMIT ?", id, logEntriesMax),
  );
}

/** The text of this id, or of this prefix, in the body of an entry. */
export function idText(id: string, isWhole: boolean): string {
  const text = `"id":${canonicalJson(id)}`;
  return isWhole ? text : text.slice(0, -1);
}

export function ofText(id: string): string {
  return `"of":${canonicalJson(id)}`;
}

/** The range that is in no index yet. */
export function tailOf(connection: Connection): { readonly from: number; readonly to: number } {
  return { from: Math.max(factsOf(connection) + 1, firstOf(connection)), to: headOf(connection).place };
}

/** Entries between two positions that contain this text and match; at most `count`. */
export function placedWith(
  connection: Connection,
  from: number,
  to: number,
  text: string,
  isIt: (one: ChainedEntry) => boolean,
  count: number,
): readonly ChainedEntry[] {
  const found: ChainedEntry[] = [];
  for (const row of rowsHolding(connection, from, to, text)) {
    const placed = placedOf(row);
    if (isIt(placed) && found.push(placed) >= count) break;
  }
  return found;
}

/** Those that exist, in the order of the rows that name their positions. */
function entriesAt(connection: Connection, rows: readonly Row[]): readonly ChainedEntry[] {
  return rowsAt(
    connection,
    rows.map((row) => numberOf(row, "place")),
  ).map(placedOf);
}

/** Adjacent positions are in one leaf, which is read once. */
export function rowsAt(connection: Connection, places: readonly number[]): readonly ChainRow[] {
  let leaf: readonly ChainRow[] = [];
  const found: ChainRow[] = [];
  for (const place of places) {
    if (leaf[place - (leaf[0]?.place ?? 0)]?.place !== place) {
      const row = connection.get("SELECT first, entries FROM leaf WHERE last >= ? ORDER BY last LIMIT 1", place);
      leaf = row === undefined ? [] : rowsOf(row);
    }
    const row = leaf[place - (leaf[0]?.place ?? 0)];
    if (row !== undefined) found.push(row);
  }
  return found;
}

export function placedOf({ place, body }: ChainRow): ChainedEntry {
  const entry = readEntryBody(body);
  if (entry === null) throw new Error(`entry ${place} cannot be read`);
  return { place, entry };
}
