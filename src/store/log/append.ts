// Appends entries to the chain, inside the transaction they describe.

import type { LogEntry } from "../../core/ports/stores/log.ts";
import { chainHash, ZERO_HASH } from "../../log/chain/chain.ts";
import { entryBody } from "../../log/chain/entry-body.ts";
import type { Connection, Head } from "../connection.ts";
import { leavesOf, lineOf, rowsOf } from "./leaf.ts";

/** Returns its position. It is written with all others of the transaction, in its last step. */
export function appendEntry(connection: Connection, entry: LogEntry, body: string = entryBody(entry)): number {
  // Whole milliseconds, as the indexes require.
  if (!Number.isSafeInteger(entry.at)) throw new TypeError("a time must be a whole number of milliseconds");
  const last = headOf(connection);
  const place = last.place + 1;
  const hash = chainHash(connection.digest, last.hash, body);
  connection.lines.push(lineOf(hash, body));
  connection.head = { place, hash };
  return place;
}

/** INVARIANT: called before every commit, so that nothing is committed without its log entries. */
export function writeEntries(connection: Connection): void {
  if (connection.lines.length === 0) return;
  const { notary } = connection;
  const sign = notary === null ? null : notary.sign;
  connection.add(leavesOf(connection.lines, headOf(connection).place, sign));
  connection.lines = [];
}

/** Position 0 and the zero hash if there is no entry. */
export function headOf(connection: Connection): Head {
  if (connection.head === null) {
    const leaf = connection.get("SELECT first, entries FROM leaf ORDER BY last DESC LIMIT 1");
    const { place, hash } = (leaf === undefined ? undefined : rowsOf(leaf).at(-1)) ?? { place: 0, hash: ZERO_HASH };
    connection.head = { place, hash };
  }
  return connection.head;
}
