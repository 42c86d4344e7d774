// What a query of the log asks for, as conditions on columns and as a check of an entry.
import type { LogEntry, LogQuery } from "../ports/log.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import type { SqlValue } from "./sqlite.ts";
import { wordsOf, wordsOfEntry } from "./words.ts";

export const logEntriesMax = 1_000;

/** A query with everything said. */
export interface Asked {
  readonly facts: readonly (readonly [fact: Fact, value: string])[];
  readonly verb: string | null;
  readonly since: number;
  readonly until: number;
  /** Null: no words were asked for. */
  readonly words: ReadonlySet<string> | null;
  /** Places, both included. */
  readonly from: number;
  readonly to: number;
  readonly order: "ASC" | "DESC";
  readonly count: number;
}

export interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export function askedOf(query: LogQuery): Asked {
  return {
    facts: FACTS.flatMap((fact) => {
      const value = query[fact];
      return value === undefined ? [] : [[fact, value] as const];
    }),
    verb: query.verb ?? null,
    since: query.since ?? Number.MIN_SAFE_INTEGER,
    until: query.until ?? Number.MAX_SAFE_INTEGER,
    words: query.text === undefined ? null : wordsOf(query.text),
    from: query.after === undefined ? 1 : query.after + 1,
    to: query.before === undefined ? Number.MAX_SAFE_INTEGER : query.before - 1,
    order: query.after === undefined ? "DESC" : "ASC",
    count: Math.min(Math.max(Math.trunc(query.count) || 0, 0), logEntriesMax),
  };
}

/** On the log's own rows: for what no index has yet. */
export function rowCondition(asked: Asked, from: number, to: number): Condition {
  const parts = ["place BETWEEN ? AND ?", "at >= ?", "at < ?", ...asked.facts.map(([fact]) => `${fact} = ?`)];
  const values: SqlValue[] = [from, to, asked.since, asked.until, ...asked.facts.map(([, value]) => value)];
  if (asked.verb !== null) {
    parts.push("EXISTS (SELECT 1 FROM json_each(entry.body, '$.verbs') AS verb WHERE verb.value = ?)");
    values.push(asked.verb);
  }
  const { text, values: words } = wordCondition(asked);
  return { text: `${parts.join(" AND ")} AND ${text}`, values: [...values, ...words] };
}

/** Holds for every row that has the words, and for few others. */
export function wordCondition(asked: Asked): Condition {
  const words = [...(asked.words ?? [])].filter((word) => PLAIN_WORD.test(word)).slice(0, wordsAskedMax);
  // Two characters beyond these letters become one of them in lower case.
  const text = "(body LIKE ? OR instr(body, char(8490)) OR instr(body, char(304)))";
  return { text: ["1", ...words.map(() => text)].join(" AND "), values: words.map((word) => `%${word}%`) };
}

const PLAIN_WORD = /^[a-z0-9]+$/;
const wordsAskedMax = 16;

/** The last word on whether an entry is what was asked for. */
export function isAsked(asked: Asked, entry: LogEntry): boolean {
  if (!(entry.at >= asked.since && entry.at < asked.until)) return false;
  if (asked.facts.some(([fact, value]) => entry[fact] !== value)) return false;
  if (asked.verb !== null && !entry.verbs.includes(asked.verb)) return false;
  if (asked.words === null) return true;
  const words = wordsOfEntry(entry);
  return [...asked.words].every((word) => words.has(word));
}
