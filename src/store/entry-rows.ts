// Entries of the log as rows: those at a place, one by its id, and what tells more of it.
import { canonicalJson } from "../audit/canonical.ts";
import { readEntryBody } from "../audit/entry-body.ts";
import type { ChainRow } from "../ports/chain-rows.ts";
import type { PlacedEntry } from "../ports/log.ts";
import { firstOf } from "./chain.ts";
import { type Connection, numberOf } from "./connection.ts";
import { factsOf } from "./fact-index.ts";
import { rowsHolding, rowsOf } from "./leaf.ts";
import { logEntriesMax } from "./log-conditions.ts";

/** By the whole id, or by a beginning that only one has. */
export function entryById(connection: Connection, id: string): PlacedEntry | null {
  if (id === "") return null;
  const first = firstOf(connection);
  const whole = connection.get("SELECT place FROM fact_id WHERE id = ? AND place >= ?", id, first);
  if (whole !== undefined) return entriesAt(connection, [numberOf(whole, "place")])[0] ?? null;
  const tail = tailOf(connection, `"id":${canonicalJson(id).slice(0, -1)}`).filter(({ entry }) =>
    entry.id.startsWith(id),
  );
  const exact = tail.find(({ entry }) => entry.id === id);
  if (exact !== undefined) return exact;
  const rows = connection.all(
    "SELECT place FROM fact_id WHERE id > ? AND id < ? AND place >= ? ORDER BY id LIMIT 2",
    ...[id, `${id}\u{10ffff}`, first],
  );
  const indexed = entriesAt(
    connection,
    rows.map((row) => numberOf(row, "place")),
  );
  const [only, another] = [...indexed, ...tail];
  return only === undefined || another !== undefined ? null : only;
}

/** Everything that tells more of an entry, in order. */
export function moreOf(connection: Connection, id: string): readonly PlacedEntry[] {
  const rows = connection.all("SELECT place FROM fact_of WHERE of = ? ORDER BY place LIMIT ?", id, logEntriesMax);
  const indexed = entriesAt(
    connection,
    rows.map((row) => numberOf(row, "place")),
  );
  const tail = tailOf(connection, `"of":${canonicalJson(id)}`).filter(({ entry }) => entry.of === id);
  return [...indexed, ...tail].slice(0, logEntriesMax);
}

/** Entries that are in no index yet and have this text in them. */
function tailOf(connection: Connection, text: string): readonly PlacedEntry[] {
  const from = Math.max(factsOf(connection) + 1, firstOf(connection));
  return [...rowsHolding(connection, from, text)].map(placedOf);
}

/** Those that are there, in the order of the places. */
export function entriesAt(connection: Connection, places: readonly number[]): readonly PlacedEntry[] {
  return rowsAt(connection, places).map(placedOf);
}

/** Places beside each other lie in one leaf, which is read once. */
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

export function placedOf({ place, body }: ChainRow): PlacedEntry {
  const entry = readEntryBody(body);
  if (entry === null) throw new Error(`entry ${place} cannot be read`);
  return { place, entry };
}
