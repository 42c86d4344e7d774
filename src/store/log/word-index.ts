// The index of words of the log, and of the facts beside them.

import type { LogEntry } from "../../core/ports/stores/log.ts";
import { readEntryBody } from "../../log/chain/entry-body.ts";
import { type Connection, numberOf } from "../connection.ts";
import { headOf } from "./append.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import { rowsBetween } from "./leaf.ts";
import type { LogConditions } from "./log-conditions.ts";
import { tokenOf, wordsOfEntry } from "./words.ts";

export const wordStepRows = 256;
const stepCharactersMax = 1024 * 1024;
const tokensAskedMax = 32;

/** One prefix letter for each, so that a word and an agent of the same name are two tokens. */
const MARKS: Readonly<Record<Fact | "verb" | "word", string>> = {
  user: "u",
  agent: "a",
  session: "s",
  code: "c",
  outcome: "o",
  kind: "k",
  verb: "v",
  word: "w",
};

/** Node's own driver binds every number as a double, and this index accepts only integers as row ids. */
const WHOLE = "CAST(? AS INTEGER)";

/** One step; true if more is left. */
export function fillWords(connection: Connection): boolean {
  const done = wordsDone(connection);
  let last = done;
  let characters = 0;
  for (const { place, body } of rowsBetween(connection, done + 1, done + wordStepRows)) {
    characters += body.length;
    if (last > done && characters > stepCharactersMax) break;
    last = place;
    const entry = readEntryBody(body);
    if (entry !== null)
      connection.run(`INSERT INTO word (rowid, token) VALUES (${WHOLE}, ?)`, last, tokensOf(entry).join(" "));
  }
  if (last > done) connection.run("UPDATE progress SET words = ?", last);
  return last < headOf(connection).place;
}

/** The last position in the index. */
export function wordsDone(connection: Connection): number {
  return connection.progress.words;
}

/** Candidate positions, in the query's order; each entry is checked afterwards. */
export function placesByWords(
  connection: Connection,
  asked: LogConditions,
  from: number,
  to: number,
  count: number,
): readonly number[] {
  const tokens = [
    ...asked.facts.map(([fact, value]) => tokenOf(MARKS[fact], value)),
    ...(asked.verb === null ? [] : [tokenOf(MARKS.verb, asked.verb)]),
    ...[...(asked.words ?? [])].map((word) => tokenOf(MARKS.word, word)),
  ];
  const wanted = tokens.slice(-tokensAskedMax).map((token) => `"${token}"`);
  return connection
    .all(
      `SELECT rowid AS place FROM word WHERE word MATCH ? AND rowid BETWEEN ${WHOLE} AND ${WHOLE} ORDER BY rowid ${asked.order} LIMIT ?`,
      ...[wanted.join(" AND "), from, to, count],
    )
    .map((row) => numberOf(row, "place"));
}

function tokensOf(entry: LogEntry): readonly string[] {
  const tokens = new Set<string>();
  for (const fact of FACTS) {
    const value = entry[fact];
    if (value !== null) tokens.add(tokenOf(MARKS[fact], value));
  }
  for (const verb of entry.verbs) tokens.add(tokenOf(MARKS.verb, verb));
  for (const word of wordsOfEntry(entry)) tokens.add(tokenOf(MARKS.word, word));
  return [...tokens];
}
