// Entries of the log as rows: one by its id, what tells more of it, and a row as the entry it is.
import { readEntryBody } from "../audit/entry-body.ts";
import type { PlacedEntry } from "../ports/log.ts";
import { firstOf } from "./chain.ts";
import { type Connection, numberOf, textOf } from "./connection.ts";
import { factsOf } from "./fact-index.ts";
import { logEntriesMax } from "./log-conditions.ts";
import type { Row } from "./sqlite.ts";

/** By the whole id, or by a beginning that only one has. */
export function entryById(connection: Connection, id: string): PlacedEntry | null {
  if (id === "") return null;
  const first = firstOf(connection);
  const whole = connection.get("SELECT place, body FROM entry WHERE id = ? AND place >= ?", id, first);
  if (whole !== undefined) return placedOf(whole);
  const rows = connection.all(
    "SELECT place, body FROM entry WHERE id > ? AND id < ? AND place >= ? ORDER BY id LIMIT 2",
    ...[id, `${id}\u{10ffff}`, first],
  );
  const [only, another] = rows;
  return only === undefined || another !== undefined ? null : placedOf(only);
}

/** Everything that tells more of an entry, in order. */
export function moreOf(connection: Connection, id: string): readonly PlacedEntry[] {
  const rows = connection.all(
    `SELECT entry.place, entry.body FROM fact_of JOIN entry ON entry.place = fact_of.place WHERE fact_of.of = ?1
     UNION ALL SELECT place, body FROM entry WHERE place > ?2 AND of = ?1 ORDER BY 1 LIMIT ?3`,
    ...[id, factsOf(connection), logEntriesMax],
  );
  return rows.map(placedOf);
}

export function placedOf(row: Row): PlacedEntry {
  const place = numberOf(row, "place");
  const entry = readEntryBody(textOf(row, "body"));
  if (entry === null) throw new Error(`entry ${place} cannot be read`);
  return { place, entry };
}
