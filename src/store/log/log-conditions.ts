// The conditions of a log query, and whether an entry meets them.

import type { LogEntry, LogQuery } from "../../core/ports/stores/log.ts";
import { canonicalJson } from "../../log/chain/canonical.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import { wordsOf, wordsOfEntry } from "./word-index.ts";

export const logEntriesMax = 1_000;

/** A query with all defaults filled in. */
export interface LogConditions {
  readonly facts: readonly (readonly [fact: Fact, value: string])[];
  readonly verb: string | null;
  /** Not indexed: few searches name it, and most logs are of few workspaces. */
  readonly workspace: string | null;
  readonly since: number;
  readonly until: number;
  /** Null: the query has no words. */
  readonly words: ReadonlySet<string> | null;
  /** Positions, inclusive. */
  readonly from: number;
  readonly to: number;
  readonly order: "ASC" | "DESC";
  readonly count: number;
}

export function logConditions(query: LogQuery): LogConditions {
  return {
    facts: FACTS.flatMap((fact) => {
      const value = query[fact];
      return value === undefined ? [] : [[fact, value] as const];
    }),
    verb: query.verb ?? null,
    workspace: query.workspace ?? null,
    since: query.since ?? Number.MIN_SAFE_INTEGER,
    until: query.until ?? Number.MAX_SAFE_INTEGER,
    words: query.text === undefined ? null : wordsOf(query.text),
    from: query.after === undefined ? 1 : query.after + 1,
    to: query.before === undefined ? Number.MAX_SAFE_INTEGER : query.before - 1,
    order: query.after === undefined ? "DESC" : "ASC",
    count: Math.min(Math.max(Math.trunc(query.count) || 0, 0), logEntriesMax),
  };
}

/** True for the body of every matching entry, and for few others: a text test is cheaper than parsing. */
export function bodyTest(asked: LogConditions): (body: string) => boolean {
  const texts = asked.facts.map(([fact, value]) => `"${fact}":${canonicalJson(value)}`);
  if (asked.verb !== null) texts.push(canonicalJson(asked.verb));
  if (asked.workspace !== null) texts.push(`"workspace":${canonicalJson(asked.workspace)}`);
  const words = [...(asked.words ?? [])].filter((word) => PLAIN_WORD.test(word)).slice(0, wordsAskedMax);
  const isTimed = asked.since > Number.MIN_SAFE_INTEGER || asked.until < Number.MAX_SAFE_INTEGER;
  return (body) => {
    if (isTimed && !(momentIn(body) >= asked.since && momentIn(body) < asked.until)) return false;
    if (!texts.every((text) => body.includes(text))) return false;
    if (words.length === 0) return true;
    const lower = body.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

/** The second member of a body; only the agent's name precedes it, in which every quote is escaped. */
function momentIn(body: string): number {
  const at = body.indexOf(MOMENT) + MOMENT.length;
  return Number(body.slice(at, body.indexOf(",", at)));
}

const MOMENT = '"at":';
const PLAIN_WORD = /^[a-z0-9]+$/;
const wordsAskedMax = 16;

/** The final check of an entry against the query. */
export function matchesConditions(asked: LogConditions, entry: LogEntry): boolean {
  if (!(entry.at >= asked.since && entry.at < asked.until)) return false;
  if (asked.facts.some(([fact, value]) => entry[fact] !== value)) return false;
  if (asked.workspace !== null && entry.workspace !== asked.workspace) return false;
  if (asked.verb !== null && !entry.verbs.includes(asked.verb)) return false;
  if (asked.words === null) return true;
  const words = wordsOfEntry(entry);
  return [...asked.words].every((word) => words.has(word));
}
