// One connection to the database: every statement is prepared once and cached, and the head of the chain is kept in
// memory.
import type { Digest } from "../core/ports/digest.ts";
import type { Notary } from "../core/ports/stores/notary.ts";
import type { Leaf } from "./log/leaf.ts";
import type { Database, Row, SqlValue, Statement } from "./sqlite.ts";

const statementsMax = 512;

/** The last row of the chain, inside the open transaction. */
export interface Head {
  readonly place: number;
  readonly hash: string;
}

/** How far the log was pruned and its indexes were filled, inside the open transaction. */
export interface Progress {
  /** The first position that remains. */
  readonly first: number;
  /** The last positions that are in the indexes. */
  readonly facts: number;
  readonly words: number;
}

export class Connection {
  readonly digest: Digest;
  /** Null: commits are not signed. */
  readonly notary: Notary | null;
  /** Null if it has to be read again. */
  head: Head | null = null;
  /** Entries of the open transaction that are not inserted yet. */
  lines: string[] = [];
  #progress: Progress | null = null;
  /** The signed note of the open transaction. */
  #note: string | null = null;
  #isOpen = false;
  /** `data_version` when the in-memory state was last read: another process's commit changes it. */
  #version: number | null = null;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  readonly #isSameFile: () => boolean;

  /** `isSameFile`: whether the path still leads to the file that was opened. */
  constructor(
    database: Database,
    digest: Digest,
    notary: Notary | null = null,
    isSameFile: () => boolean = () => true,
  ) {
    this.#database = database;
    this.digest = digest;
    this.notary = notary;
    this.#isSameFile = isSameFile;
  }

  /** Throws if the file was removed or replaced: what is written to it would be lost, and what is read is not what is stored. */
  checkFile(): void {
    if (!this.#isSameFile()) throw new Error("its file was removed or replaced while the daemon was running");
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  /** Takes the write lock. False if another process committed since `forget`: the in-memory state may be stale. */
  begin(): boolean {
    this.run("BEGIN IMMEDIATE");
    this.#isOpen = true;
    return this.#dataVersion() === this.#version;
  }

  /** Inserts leaves at the end of the log. */
  add(leaves: readonly Leaf[]): void {
    for (const { last, first, entries, note } of leaves) this.run(INSERT_LEAF, last, first, entries, note);
    this.#note = leaves.at(-1)?.note ?? null;
  }

  /** Durable when it returns; if it throws, the outcome is unknown. */
  commit(): void {
    this.run("COMMIT");
    this.#isOpen = false;
    // INVARIANT: after the commit. The note stored in the keys folder is never ahead of the log.
    if (this.#note !== null) this.notary?.remember(this.#note);
    this.#note = null;
  }

  /** Throws if SQLite cannot roll back: the connection must be closed then. */
  rollback(): void {
    this.#note = null;
    this.run("ROLLBACK");
    this.#isOpen = false;
  }

  /** Returns the number of changed rows. */
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

  /** Drops in-memory state that may be stale or was rolled back. */
  forget(): void {
    this.#version = this.#dataVersion();
    this.head = null;
    this.lines = [];
    this.#progress = null;
  }

  /** The same for the indexes alone, after a step was rolled back. */
  forgetProgress(): void {
    this.#progress = null;
  }

  get progress(): Progress {
    if (this.#progress === null) {
      const row = this.get("SELECT first, facts, words FROM progress");
      const of = (column: string): number => numberOf(row, column);
      this.#progress = { first: of("first"), facts: of("facts"), words: of("words") };
    }
    return this.#progress;
  }

  /** The text must come from our own fixed set: it is never built from input. */
  prepare(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const made = this.#database.prepare(text);
    // Only a bug of ours creates so many; clearing the cache is slower, never wrong.
    if (this.#statements.size >= statementsMax) this.#statements.clear();
    this.#statements.set(text, made);
    return made;
  }

  /** Never throws. Rolls back an open transaction first: a driver may keep a connection, and its write lock, alive. */
  close(): void {
    try {
      if (this.#isOpen) this.rollback();
    } catch {
      // SQLite rolls the transaction back when the next connection opens the file.
    }
    this.#statements.clear();
    try {
      this.#database.close();
    } catch {
      // Already closed, or the disk is gone; nothing can be lost here.
    }
  }

  #dataVersion(): number {
    return numberOf(this.get("PRAGMA data_version"), "data_version");
  }
}

const INSERT_LEAF = "INSERT INTO leaf (last, first, entries, note) VALUES (?, ?, ?, ?)";

/** A column that our schema declares as a number. */
export function numberOf(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw new TypeError(`${column} is not a number`);
  return value;
}

/** A column that our schema declares as text. */
export function textOf(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== "string") throw new TypeError(`${column} is not text`);
  return value.startsWith(ESCAPED) ? String(JSON.parse(value.slice(1))) : value;
}

const ESCAPED = "\u0001";

/**
 * The driver cuts text at the first NUL and replaces lone surrogates, so that two names would become one: such text is
 * bound as JSON, which escapes both.
 */
export function boundText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text.startsWith(ESCAPED) || BROKEN.test(text) ? ESCAPED + JSON.stringify(text) : text;
}

function boundOf(value: SqlValue): SqlValue {
  return typeof value === "string" ? boundText(value) : value;
}

/** Usually returns the same list. */
function bound(values: readonly SqlValue[]): readonly SqlValue[] {
  for (let at = 0; at < values.length; at++)
    if (boundOf(values[at] as SqlValue) !== values[at]) return values.map(boundOf);
  return values;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SUSPECT = /[\0\u0001\ud800-\udfff]/;
const BROKEN = /[\0\ud800-\udfff]/u;
