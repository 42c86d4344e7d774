// Puts entries at the end of the chain, inside the transaction of what they tell of.
import { chainHash, ZERO_HASH } from "../audit/chain.ts";
import { entryBody } from "../audit/entry-body.ts";
import type { LogEntry } from "../ports/log.ts";
import { type Connection, type Head, numberOf, textOf } from "./connection.ts";

const APPEND = `INSERT INTO entry (place, id, kind, at, user, agent, session, outcome, code, of, body, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Returns its place. */
export function appendEntry(connection: Connection, entry: LogEntry, body: string = entryBody(entry)): number {
  const last = headOf(connection);
  const place = last.place + 1;
  const hash = chainHash(connection.digest, last.hash, body);
  const { id, kind, at, user, agent, session, outcome, code, of } = entry;
  connection.run(APPEND, place, id, kind, at, user, agent, session, outcome, code, of, body, hash);
  connection.head = { place, hash };
  return place;
}

/** Place 0 and the zero hash where there is no entry. */
export function headOf(connection: Connection): Head {
  if (connection.head === null) {
    const row = connection.get("SELECT place, hash FROM entry ORDER BY place DESC LIMIT 1");
    connection.head =
      row === undefined ? { place: 0, hash: ZERO_HASH } : { place: numberOf(row, "place"), hash: textOf(row, "hash") };
  }
  return connection.head;
}
