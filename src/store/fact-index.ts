// The index of facts: filled in steps when nobody writes, read with conditions that its indexes answer alone.
import { headOf } from "./append.ts";
import { type Connection, numberOf } from "./connection.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import { isOwnFault } from "./failure.ts";
import type { Asked } from "./log-conditions.ts";
import type { SqlValue } from "./sqlite.ts";
import type { Mirror } from "./trusted-connection.ts";

/** Rows of one step: a step costs as much as a hundred calls. */
export const factStepRows = 256;
const stepsAtOnceMax = 16;
/** So many rows are looked through without an index before anybody notices; further behind, whoever writes goes on with it. */
export const factsBehindRowsMax = 16_384;
/** How far it is worth counting to see which condition is the rarest: further only where all are common. */
const COUNTED: readonly number[] = [2_000, 20_000, 200_000];

const RANGE = "entry.place BETWEEN ?1 AND ?2";
const numberOfTerm = (text: string): string => `(SELECT number FROM term WHERE text = ${text})`;
const FILL: readonly string[] = [
  `INSERT OR IGNORE INTO term (text)
   ${FACTS.map((fact) => `SELECT ${fact} FROM entry WHERE ${RANGE} AND ${fact} IS NOT NULL`).join(" UNION ")}
   UNION SELECT verb.value FROM entry, json_each(entry.body, '$.verbs') AS verb WHERE ${RANGE}`,
  `INSERT INTO fact (place, at, ${FACTS.join(", ")})
   SELECT place, at, ${FACTS.map((fact) => numberOfTerm(`entry.${fact}`)).join(", ")} FROM entry WHERE ${RANGE}`,
  `INSERT OR IGNORE INTO fact_verb (verb, place, at, ${FACTS.join(", ")})
   SELECT ${numberOfTerm("verb.value")}, fact.place, fact.at, ${FACTS.map((fact) => `fact.${fact}`).join(", ")}
   FROM entry JOIN fact ON fact.place = entry.place, json_each(entry.body, '$.verbs') AS verb WHERE ${RANGE}`,
  `INSERT INTO fact_of (of, place) SELECT of, place FROM entry WHERE ${RANGE} AND of IS NOT NULL`,
  `INSERT INTO span (last, first, earliest, latest) SELECT max(place), min(place), min(at), max(at) FROM entry WHERE ${RANGE}`,
];

/** Steps of it, in the commit that is open. */
export class FactFiller implements Mirror {
  #isBroken = false;

  load(): void {
    this.#isBroken = false;
  }

  drop(): void {}

  /** In the commits of others: only where it is too far behind. */
  catchUp(connection: Connection): void {
    this.#fill(connection, factsBehindRowsMax, stepsAtOnceMax);
  }

  /** When nobody writes: one step. True where more is left. */
  step(connection: Connection): boolean {
    this.#fill(connection, 0, 1);
    return !this.#isBroken && headOf(connection).place - factsOf(connection) >= factStepRows;
  }

  /** Where it cannot go on it stays behind: questions are answered from the log itself, and no decision suffers for it. */
  #fill(connection: Connection, behindRows: number, stepsMax: number): void {
    const done = factsOf(connection);
    if (this.#isBroken || headOf(connection).place - done < behindRows + factStepRows) return;
    connection.run("SAVEPOINT facts");
    try {
      fillFacts(connection, done, behindRows, stepsMax);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      this.#isBroken = true;
      connection.run("ROLLBACK TO facts");
      connection.forget();
    }
    connection.run("RELEASE facts");
  }
}

function fillFacts(connection: Connection, from: number, behindRows: number, stepsMax: number): void {
  const until = headOf(connection).place - behindRows;
  let done = from;
  for (let step = 0; step < stepsMax && until - done >= factStepRows; step++) {
    for (const text of FILL) connection.run(text, done + 1, done + factStepRows);
    done += factStepRows;
    connection.run("UPDATE progress SET facts = ?", done);
  }
}

/** The last place that is in the index. */
export function factsOf(connection: Connection): number {
  return connection.progress.facts;
}

/** Places of what was asked for, as far as they are in the index, in its order. Words are not looked at. */
export function placesByFacts(
  connection: Connection,
  asked: Asked,
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

/** The condition that holds for the fewest rows, as far as counting is worth it. */
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

/** The places between which the moments asked for can lie. */
export function between(connection: Connection, asked: Asked, from: number, to: number): readonly [number, number] {
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
