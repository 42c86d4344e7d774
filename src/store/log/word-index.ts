// The index of words of the log, and of the facts beside them.

import type { Json } from "../../core/base/json.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { readEntryBody } from "../../log/chain/entry-body.ts";
import { type Connection, numberOf } from "../connection.ts";
import { headOf } from "./append.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import { rowsBetween } from "./leaf.ts";
import type { LogConditions } from "./log-conditions.ts";

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

const WORD = /[\p{L}\p{N}_]+/gu;

/** Each once, in lower case. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.normalize("NFC").toLowerCase().match(WORD) ?? []);
}

/** Of every value in it, at any depth; not of the names of its members. */
export function wordsOfEntry(entry: LogEntry): ReadonlySet<string> {
  const texts: string[] = [];
  collect(entry as unknown as Json, texts);
  // No word contains a line break, so no two values are joined into one word.
  return wordsOf(texts.join("\n"));
}

function collect(value: Json, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "number") into.push(String(value));
  else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) collect(part, into);
}

const tokenCharactersMax = 64;

/**
 * A word or a fact as one token of letters and digits: tokens are unique, except that long ones are cut to a prefix.
 * Results are always compared with the entry itself.
 */
export function tokenOf(mark: string, text: string): string {
  let token = mark;
  const length = Math.min(text.length, tokenCharactersMax);
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    const isPlain = (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x79);
    token += isPlain ? text[at] : `z${code.toString(16).padStart(4, "0")}`;
  }
  return token;
}
