// Queries on the index of facts that its indexes answer alone.
import { type Connection, numberOf } from "../connection.ts";
import type { SqlValue } from "../sqlite.ts";
import type { Fact } from "./fact-schema.ts";
import type { LogConditions } from "./log-conditions.ts";

/** How far to count when searching for the rarest condition: further only if all are common. */
const COUNTED: readonly number[] = [2_000, 20_000, 200_000];

/** The last position in the index. */
export function factsOf(connection: Connection): number {
  return connection.progress.facts;
}

/** Positions that match the query, as far as they are in the index, in its order. Words are ignored. */
export function placesByFacts(
  connection: Connection,
  asked: LogConditions,
  from: number,
  to: number,
  count: number,
): readonly number[] {
  const terms: (readonly [fact: Fact, term: number])[] = [];
  for (const [fact, value] of asked.facts) {
    const term = termOf(connection, value);
    if (term === null) return [];
    terms.push([fact, term]);
  }
  const verb = asked.verb === null ? null : termOf(connection, asked.verb);
  if (asked.verb !== null && verb === null) return [];
  const rarest = rarestOf(connection, terms, verb);
  const parts = ["place BETWEEN ? AND ?", "at >= ?", "at < ?", ...terms.map(([fact]) => `${fact} = ?`)];
  const values: SqlValue[] = [...between(connection, asked, from, to), asked.since, asked.until];
  values.push(...terms.map(([, term]) => term));
  if (verb !== null) {
    parts.push(
      rarest === "verb"
        ? "verb = ?"
        : "EXISTS (SELECT 1 FROM fact_verb AS v WHERE v.verb = ? AND v.place = fact.place)",
    );
    values.push(verb);
  }
  const table = rarest === "verb" ? "fact_verb" : rarest === null ? "fact" : `fact INDEXED BY fact_${rarest}`;
  const text = `SELECT place FROM ${table} WHERE ${parts.join(" AND ")} ORDER BY place ${asked.order} LIMIT ?`;
  return connection.all(text, ...values, count).map((row) => numberOf(row, "place"));
}

/** The condition with the fewest rows, as far as counting is worth it. */
function rarestOf(
  connection: Connection,
  terms: readonly (readonly [fact: Fact, term: number])[],
  verb: number | null,
): Fact | "verb" | null {
  const all: readonly (readonly [Fact | "verb", number])[] = verb === null ? terms : [["verb", verb], ...terms];
  if (all.length < 2) return all[0]?.[0] ?? null;
  for (const most of COUNTED) {
    let least = most;
    let rarest: Fact | "verb" | null = null;
    for (const [fact, term] of all) {
      const count = countOf(connection, fact, term, least);
      if (count < least) [least, rarest] = [count, fact];
    }
    if (rarest !== null) return rarest;
  }
  return all[0]?.[0] ?? null;
}

function countOf(connection: Connection, fact: Fact | "verb", term: number, most: number): number {
  const rows = fact === "verb" ? "fact_verb WHERE verb = ?" : `fact INDEXED BY fact_${fact} WHERE ${fact} = ?`;
  return numberOf(connection.get(`SELECT count(*) AS count FROM (SELECT 1 FROM ${rows} LIMIT ?)`, term, most), "count");
}

/** The range of positions that can contain the requested times. */
export function between(
  connection: Connection,
  asked: LogConditions,
  from: number,
  to: number,
): readonly [number, number] {
  const row = connection.get(
    `SELECT (SELECT min(first) FROM span WHERE latest >= ?) AS first, (SELECT max(last) FROM span WHERE earliest < ?) AS last`,
    ...[asked.since, asked.until],
  );
  const [first, last] = [row?.["first"], row?.["last"]];
  return [
    typeof first === "number" ? Math.max(from, first) : to + 1,
    typeof last === "number" ? Math.min(to, last) : 0,
  ];
}

function termOf(connection: Connection, text: string): number | null {
  const number = connection.get("SELECT number FROM term WHERE text = ?", text)?.["number"];
  return typeof number === "number" ? number : null;
}
