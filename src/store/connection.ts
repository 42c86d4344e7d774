// One connection to the database: every statement is prepared once and kept, and the end of the chain is remembered.
import type { Digest } from "../ports/digest.ts";
import type { Notary } from "../ports/notary.ts";
import type { Journal } from "./journal.ts";
import type { Leaf } from "./leaf.ts";
import type { Database, Row, SqlValue, Statement } from "./sqlite.ts";
import { Transaction } from "./transaction.ts";

const statementsMax = 512;

/** The last row of the chain, inside the transaction that is open. */
export interface Head {
  readonly place: number;
  readonly hash: string;
}

/** How far the log was pruned and its indexes were filled, inside the transaction that is open. */
export interface Progress {
  /** The first place that is kept. */
  readonly first: number;
  /** The last places that are in the indexes. */
  readonly facts: number;
  readonly words: number;
  /** The last place whose charges are in the accounts' own table. */
  readonly accounts: number;
}

export class Connection {
  readonly digest: Digest;
  /** Null: commits are not signed. */
  readonly notary: Notary | null;
  /** Null where it has to be read again. */
  head: Head | null = null;
  /** Of the transaction that is open: entries that are not written yet, and where the accounts stand that they charged. */
  lines: string[] = [];
  accounts: string | null = null;
  #progress: Progress | null = null;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #transaction: Transaction;

  /** The signature of the commit that is open. */
  #note: string | null = null;

  constructor(database: Database, digest: Digest, notary: Notary | null = null) {
    this.#database = database;
    this.digest = digest;
    this.notary = notary;
    this.#transaction = new Transaction({
      // A leaf is JSON, in which nothing stands that would have to be bound otherwise.
      run: (text, ...values) => void this.#statement(text).run(...values),
      version: () => numberOf(this.#statement("PRAGMA data_version").get(), "data_version"),
    });
  }

  /** From now on nobody else writes here. */
  keepJournal(journal: Journal): void {
    this.#transaction.keepJournal(journal);
  }

  exec(text: string): void {
    // Some of what is said so cannot be said inside a transaction.
    this.#transaction.release();
    this.#database.exec(text);
  }

  /** False where somebody else wrote to the file: what is remembered may be old, and what they wrote counts. */
  begin(): boolean {
    return this.#transaction.begin(this.head);
  }

  /** Behind everything that stands there. */
  add(leaves: readonly Leaf[]): void {
    this.#transaction.add(leaves);
    this.#note = leaves.at(-1)?.note ?? null;
  }

  /** On disk when it returns; where it throws, nobody knows. */
  commit(): void {
    this.#transaction.commit();
    // INVARIANT: after the commit. What is remembered outside is never ahead of the log.
    if (this.#note !== null) this.notary?.remember(this.#note);
    this.#note = null;
  }

  rollback(): void {
    this.#note = null;
    this.#transaction.rollback();
  }

  /** Puts what stands in the journal alone into the database. */
  settle(): void {
    this.#transaction.reach(true);
  }

  /** Leaves that are in the journal alone, from the one at this place on; null where the log's table has to be asked. */
  waitingFrom(place: number): readonly Leaf[] | null {
    return this.#transaction.waitingFrom(place);
  }

  /** How many rows it changed. */
  run(text: string, ...values: readonly SqlValue[]): number {
    if (text.startsWith("UPDATE progress")) this.#progress = null;
    return Number(this.prepare(text).run(...bound(values)).changes);
  }

  get(text: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.prepare(text).get(...bound(values));
  }

  all(text: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.prepare(text).all(...bound(values));
  }

  /** What is remembered of the database may be old, or was undone. */
  forget(): void {
    this.#transaction.remember();
    this.head = null;
    this.lines = [];
    this.accounts = null;
    this.#progress = null;
  }

  /** The same of the indexes alone, of which a step was undone. */
  forgetProgress(): void {
    this.#progress = null;
  }

  get progress(): Progress {
    if (this.#progress === null) {
      const row = this.get("SELECT first, facts, words, accounts FROM progress");
      const of = (column: string): number => numberOf(row, column);
      this.#progress = { first: of("first"), facts: of("facts"), words: of("words"), accounts: of("accounts") };
    }
    return this.#progress;
  }

  /** The text must come from our own fixed set: it is never built from what somebody sent. */
  prepare(text: string): Statement {
    this.#transaction.reach(text.includes(LOG_TABLE));
    return this.#statement(text);
  }

  #statement(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const made = this.#database.prepare(text);
    // Only a mistake of ours makes so many; starting over is slower, never wrong.
    if (this.#statements.size >= statementsMax) this.#statements.clear();
    this.#statements.set(text, made);
    return made;
  }

  /** Never throws: whoever closes has given up on it. */
  close(): void {
    try {
      this.#transaction.close();
    } catch {
      // As below.
    }
    this.#statements.clear();
    try {
      this.#database.close();
    } catch {
      // Already closed, or the disk is gone; there is nothing left to lose here.
    }
  }
}

/** Nothing else that is asked for hangs on which entries are there. */
const LOG_TABLE = "leaf";

/** A column that our own schema says is a number. */
export function numberOf(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw new TypeError(`${column} is no number`);
  return value;
}

/** A column that our own schema says is text. */
export function textOf(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== "string") throw new TypeError(`${column} is no text`);
  return value.startsWith(ESCAPED) ? String(JSON.parse(value.slice(1))) : value;
}

const ESCAPED = "\u0001";

/**
 * The driver cuts text at the first zero character and puts a replacement for half of a surrogate pair, so that two names
 * would become one: such text is bound as JSON, which escapes both.
 */
export function boundText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text.startsWith(ESCAPED) || BROKEN.test(text) ? ESCAPED + JSON.stringify(text) : text;
}

function boundOf(value: SqlValue): SqlValue {
  return typeof value === "string" ? boundText(value) : value;
}

/** Nearly always the same list. */
function bound(values: readonly SqlValue[]): readonly SqlValue[] {
  for (let at = 0; at < values.length; at++)
    if (boundOf(values[at] as SqlValue) !== values[at]) return values.map(boundOf);
  return values;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SUSPECT = /[\0\u0001\ud800-\udfff]/;
const BROKEN = /[\0\ud800-\udfff]/u;
