// Fills the search indexes in short steps while there are no writes. Entries that are not indexed yet are searched in the log
// itself.

import type { ChainRow } from "../../core/ports/stores/chain-rows.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { readEntryBody } from "../../log/chain/entry-body.ts";
import type { CommitLoop } from "../commit-loop.ts";
import { boundText, type Connection, numberOf } from "../connection.ts";
import { isOwnFault } from "../failure.ts";
import type { SqlValue } from "../sqlite.ts";
import type { Mirror } from "../trusted-connection.ts";
import { headOf } from "./append.ts";
import { factsOf } from "./fact-index.ts";
import { FACTS, type Fact } from "./fact-schema.ts";
import { rowsBetween } from "./leaf.ts";
import { fillWords, wordsDone } from "./word-index.ts";

const quietMilliseconds = 250;
/** At this interval between commits a step in between is not noticeable. */
const millisecondsPerCommit = 31;
const betweenStepsMilliseconds = 4;
/** This many rows can be searched without an index without a noticeable delay. */
export const factsBehindRowsMax = 65_536;
/** Further behind, steps are made even under load, at most a tenth of the time. */
const busyMilliseconds = 50;

export class IndexFiller {
  readonly #loop: CommitLoop;
  readonly #facts: FactFiller;
  #timer: NodeJS.Timeout | null = null;
  #ownCommits = 0;
  #seen = 0;

  constructor(loop: CommitLoop, facts: FactFiller) {
    this.#loop = loop;
    this.#facts = facts;
  }

  /** From now on, after each write. */
  begin(): void {
    this.#loop.along((connection) => {
      if (this.#timer === null && headOf(connection).place > wordsDone(connection)) this.#wait(quietMilliseconds);
    });
  }

  /** Never keeps the process alive: the next run continues. */
  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#turn(milliseconds / millisecondsPerCommit), milliseconds);
    this.#timer.unref();
  }

  async #turn(commitsMax: number): Promise<void> {
    const others = this.#loop.commits - this.#ownCommits;
    const isQuiet = this.#loop.isQuiet && others - this.#seen <= commitsMax;
    this.#seen = others;
    const isFarBehind = !isQuiet && this.#isFarBehind();
    if (!isQuiet && !isFarBehind) return this.#wait(quietMilliseconds);
    const step = await this.#loop.write((connection) => this.#step(connection));
    this.#ownCommits++;
    this.#timer = null;
    if (step.ok && step.value) this.#wait(isFarBehind ? busyMilliseconds : betweenStepsMilliseconds);
  }

  #isFarBehind(): boolean {
    const behind = this.#loop.readNow((connection) => headOf(connection).place - factsOf(connection));
    return behind.ok && behind.value > factsBehindRowsMax;
  }

  /** True if more is left. Facts first: they answer more queries, and cost less. */
  #step(connection: Connection): boolean {
    return this.#facts.step(connection) || fillWords(connection);
  }
}

/** Rows of one step: a step costs as much as a hundred calls. */
export const factStepRows = 256;
const termsKnownMax = 10_000;

/** The index of facts: filled in the open transaction, in steps; pruned entries are removed from it. */
export class FactFiller implements Mirror {
  /** Term ids by their text; those of a step that was rolled back are dropped. */
  readonly #terms = new Map<string, number>();
  #isBroken = false;

  load(): void {
    this.#isBroken = false;
  }

  drop(): void {
    this.#terms.clear();
  }

  /** One step; true if more is left. If it cannot continue, the index stays behind: queries read the log itself. */
  step(connection: Connection): boolean {
    const done = factsOf(connection);
    // Pending entries of the same commit are in no leaf yet.
    const place = headOf(connection).place - connection.lines.length;
    if (this.#isBroken || place - done < factStepRows) return false;
    connection.run("SAVEPOINT facts");
    try {
      this.#fill(connection, done + 1, done + factStepRows);
      connection.run("UPDATE progress SET facts = ?", done + factStepRows);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      this.#isBroken = true;
      this.#terms.clear();
      connection.run("ROLLBACK TO facts");
      connection.forgetProgress();
    }
    connection.run("RELEASE facts");
    return !this.#isBroken && place - factsOf(connection) >= factStepRows;
  }

  #fill(connection: Connection, from: number, to: number): void {
    const [facts, verbs, ids, ofs] = [
      new RowBuffer(FACT),
      new RowBuffer(FACT_VERB),
      new RowBuffer(FACT_ID),
      new RowBuffer(FACT_OF),
    ];
    let [earliest, latest] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    for (const { place, body } of rowsBetween(connection, from, to)) {
      const entry = readFacts(body);
      // The verifier reports unreadable entries.
      if (entry === null) continue;
      const { id, at, of } = entry;
      const terms = FACTS.map((fact) => this.#maybe(connection, entry[fact]));
      facts.add(place, at, ...terms);
      for (const verb of new Set(entry.verbs)) verbs.add(this.#term(connection, verb), place, at, ...terms);
      ids.add(id, place);
      if (of !== null) ofs.add(of, place);
      [earliest, latest] = [Math.min(earliest, at), Math.max(latest, at)];
    }
    for (const rows of [facts, verbs, ids, ofs]) rows.insert(connection);
    connection.run(
      "INSERT INTO span (last, first, earliest, latest) VALUES (?, ?, ?, ?)",
      ...[to, from, earliest, latest],
    );
  }

  #maybe(connection: Connection, text: string | null): number | null {
    return text === null ? null : this.#term(connection, text);
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

/**
 * The target of inserts: its columns, and statements for one row and for many. The overhead of a statement exceeds that
 * of a row.
 */
interface InsertTarget {
  readonly width: number;
  readonly one: string;
  readonly many: string;
}

function into(table: string, columns: readonly string[]): InsertTarget {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const one = `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES ${row}`;
  return { width: columns.length, one, many: one + `, ${row}`.repeat(rowsAtOnce - 1) };
}

const FACT = into("fact", ["place", "at", ...FACTS]);
const FACT_VERB = into("fact_verb", ["verb", "place", "at", ...FACTS]);
const FACT_ID = into("fact_id", ["id", "place"]);
const FACT_OF = into("fact_of", ["of", "place"]);

class RowBuffer {
  readonly #into: InsertTarget;
  readonly #values: SqlValue[] = [];

  constructor(place: InsertTarget) {
    this.#into = place;
  }

  add(...values: readonly SqlValue[]): void {
    this.#values.push(...values);
  }

  insert(connection: Connection): void {
    const { width, one, many } = this.#into;
    const [values, chunk] = [this.#values, width * rowsAtOnce];
    let at = 0;
    for (; at + chunk <= values.length; at += chunk) connection.run(many, ...values.slice(at, at + chunk));
    for (; at < values.length; at += width) connection.run(one, ...values.slice(at, at + width));
  }
}

type SearchableEntry = Pick<LogEntry, "id" | "at" | "of" | "verbs" | Fact>;

/** The searchable members of an entry; null if it is not one. */
function readFacts(body: string): SearchableEntry | null {
  try {
    const told = JSON.parse(body) as Readonly<Record<keyof SearchableEntry, unknown>>;
    const isTold = TEXTS.every((name) => told[name] === null || typeof told[name] === "string");
    const { id, at, verbs } = told;
    const isEntry = isTold && typeof id === "string" && Number.isSafeInteger(at) && Array.isArray(verbs);
    return isEntry && verbs.every((verb) => typeof verb === "string") ? (told as SearchableEntry) : null;
  } catch {
    return null;
  }
}

const TEXTS = [...FACTS, "id", "of"] as const;

/** Removes these rows from the index; they are all rows from its beginning up to a position. */
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
