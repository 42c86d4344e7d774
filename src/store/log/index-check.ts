// Whether searches find each entry as it is written. The indexes are not signed: who can write the database could hide entries
// by them and leave the log itself as it is.

import type { LogEntry } from "../../core/ports/stores/log.ts";
import { readEntryBody } from "../../log/chain/entry-body.ts";
import { boundText, type Connection } from "../connection.ts";
import { factsOf } from "./fact-index.ts";
import { FACTS } from "./fact-schema.ts";
import { rowsBetween } from "./leaf.ts";
import { wordsDone } from "./word-index.ts";

/** The first place between two that an index should have and does not have as the entry says; null where there is none. */
export function firstUnindexed(connection: Connection, from: number, to: number): number | null {
  const [facts, words] = [factsOf(connection), wordsDone(connection)];
  for (const { place, body } of rowsBetween(connection, from, Math.min(to, Math.max(facts, words)))) {
    const entry = readEntryBody(body);
    // What cannot be read is in no index.
    if (entry === null) continue;
    if (place <= facts && !hasFacts(connection, place, entry)) return place;
    if (place <= words && connection.get(WORDS, place) === undefined) return place;
  }
  return null;
}

const WORDS = "SELECT 1 AS there FROM word WHERE rowid = CAST(? AS INTEGER)";
const FACT_ROW = `SELECT 1 AS there FROM fact WHERE place = ? AND at = ? AND ${FACTS.map(
  (fact) => `(SELECT text FROM term WHERE number = ${fact}) IS ?`,
).join(" AND ")}`;
const VERB_ROW = `SELECT 1 AS there FROM fact_verb AS v JOIN fact AS f ON f.place = v.place
  WHERE v.verb = (SELECT number FROM term WHERE text = ?) AND v.place = ? AND ${["at", ...FACTS]
    .map((column) => `v.${column} IS f.${column}`)
    .join(" AND ")}`;
/** Of two entries with one id the first is found. */
const ID_ROW = "SELECT 1 AS there FROM fact_id WHERE id = ? AND place <= ?";
const OF_ROW = "SELECT 1 AS there FROM fact_of WHERE of = ? AND place = ?";
const SPAN_ROW =
  "SELECT 1 AS there FROM span WHERE last >= ?1 AND first <= ?1 AND earliest <= ?2 AND latest >= ?2 LIMIT 1";

function hasFacts(connection: Connection, place: number, entry: LogEntry): boolean {
  const { id, at, of, verbs } = entry;
  const has = (text: string, ...values: readonly (string | number | null)[]): boolean =>
    connection.get(text, ...values) !== undefined;
  const facts = FACTS.map((fact) => (entry[fact] === null ? null : boundText(entry[fact])));
  return (
    has(FACT_ROW, place, at, ...facts) &&
    verbs.every((verb) => has(VERB_ROW, verb, place)) &&
    has(ID_ROW, id, place) &&
    (of === null || has(OF_ROW, of, place)) &&
    has(SPAN_ROW, place, at)
  );
}
