// Fills the index of facts, in steps when nobody writes, and takes out of it what retention removes.
import { readEntryBody } from "../audit/entry-body.ts";
import type { ChainRow } from "../ports/chain-rows.ts";
import type { LogEntry } from "../ports/log.ts";
import { headOf } from "./append.ts";
import { boundText, type Connection, numberOf } from "./connection.ts";
import { factsOf } from "./fact-index.ts";
import { FACTS } from "./fact-schema.ts";
import { isOwnFault } from "./failure.ts";
import { rowsBetween } from "./leaf.ts";
import type { SqlValue } from "./sqlite.ts";
import type { Mirror } from "./trusted-connection.ts";

/** Rows of one step: a step costs as much as a hundred calls. */
export const factStepRows = 256;
const stepsAtOnceMax = 16;
/** So many rows are looked through without an index before anybody notices; further behind, whoever writes goes on with it. */
export const factsBehindRowsMax = 65_536;
const termsKnownMax = 10_000;

/** Steps of it, in the commit that is open. */
export class FactFiller implements Mirror {
  /** Names of facts by their text; those of a step that was undone are forgotten. */
  readonly #terms = new Map<string, number>();
  #isBroken = false;

  load(): void {
    this.#isBroken = false;
  }

  drop(): void {
    this.#terms.clear();
  }

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
    const until = headOf(connection).place - behindRows;
    let done = factsOf(connection);
    if (this.#isBroken || until - done < factStepRows) return;
    connection.run("SAVEPOINT facts");
    try {
      for (let step = 0; step < stepsMax && until - done >= factStepRows; step++) {
        this.#step(connection, done + 1, done + factStepRows);
        done += factStepRows;
      }
      connection.run("UPDATE progress SET facts = ?", done);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      this.#isBroken = true;
      this.#terms.clear();
      connection.run("ROLLBACK TO facts");
      connection.forget();
    }
    connection.run("RELEASE facts");
  }

  #step(connection: Connection, from: number, to: number): void {
    const facts: SqlValue[][] = [];
    const verbs: SqlValue[][] = [];
    const ids: SqlValue[][] = [];
    const ofs: SqlValue[][] = [];
    let [earliest, latest] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    for (const { place, body } of rowsBetween(connection, from, to)) {
      const entry = readEntryBody(body);
      // What cannot be read is the verifier's to tell of.
      if (entry === null) continue;
      const { id, at, of } = entry;
      const terms = this.#termsOf(connection, entry);
      facts.push([place, at, ...terms]);
      for (const verb of new Set(entry.verbs)) verbs.push([this.#term(connection, verb), place, at, ...terms]);
      ids.push([id, place]);
      if (of !== null) ofs.push([of, place]);
      [earliest, latest] = [Math.min(earliest, at), Math.max(latest, at)];
    }
    const columns = `place, at, ${FACTS.join(", ")}`;
    insert(connection, `fact (${columns})`, facts);
    insert(connection, `fact_verb (verb, ${columns})`, verbs);
    insert(connection, "fact_id (id, place)", ids);
    insert(connection, "fact_of (of, place)", ofs);
    insert(connection, "span (last, first, earliest, latest)", [[to, from, earliest, latest]]);
  }

  #termsOf(connection: Connection, entry: LogEntry): readonly (number | null)[] {
    return FACTS.map((fact) => {
      const text = entry[fact];
      return text === null ? null : this.#term(connection, text);
    });
  }

  #term(connection: Connection, text: string): number {
    const known = this.#terms.get(text);
    if (known !== undefined) return known;
    const row =
      connection.get("SELECT number FROM term WHERE text = ?", text) ??
      connection.get("INSERT INTO term (text) VALUES (?) RETURNING number", text);
    const number = numberOf(row, "number");
    if (this.#terms.size >= termsKnownMax) this.#terms.clear();
    this.#terms.set(text, number);
    return number;
  }
}

const rowsAtOnce = 32;

/** Many rows in one statement: what a statement costs by itself is more than what a row costs. */
function insert(connection: Connection, into: string, rows: readonly (readonly SqlValue[])[]): void {
  const [some] = rows;
  if (some === undefined) return;
  const row = `(${some.map(() => "?").join(", ")})`;
  const text = `INSERT OR IGNORE INTO ${into} VALUES ${row}`;
  const many = text + `, ${row}`.repeat(rowsAtOnce - 1);
  let at = 0;
  for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce)
    connection.run(many, ...rows.slice(at, at + rowsAtOnce).flat());
  for (; at < rows.length; at++) connection.run(text, ...(rows[at] as readonly SqlValue[]));
}

/** What the index has of these rows, which are all from its beginning up to a place. */
export function forgetFacts(connection: Connection, rows: readonly ChainRow[], until: number): void {
  const entries = rows.flatMap(({ body }) => readEntryBody(body) ?? []);
  const texts = (list: readonly (string | null)[]): string =>
    JSON.stringify([...new Set(list)].flatMap((text) => (text === null ? [] : [boundText(text)])));
  const ids = texts(entries.map(({ id }) => id));
  const ofs = texts(entries.map(({ of }) => of));
  connection.run("DELETE FROM fact_id WHERE id IN (SELECT value FROM json_each(?)) AND place < ?", ids, until);
  connection.run("DELETE FROM fact_of WHERE of IN (SELECT value FROM json_each(?)) AND place < ?", ofs, until);
  for (let verb = nextVerb(connection, 0); verb !== null; verb = nextVerb(connection, verb))
    connection.run("DELETE FROM fact_verb WHERE verb = ? AND place < ?", verb, until);
}

function nextVerb(connection: Connection, after: number): number | null {
  const verb = connection.get("SELECT min(verb) AS verb FROM fact_verb WHERE verb > ?", after)?.["verb"];
  return typeof verb === "number" ? verb : null;
}
