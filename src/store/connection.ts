// One connection to the database: every statement is prepared once and kept, and the end of the chain is remembered. Where
// nobody else writes to it, a commit that only adds a few entries goes to the journal, and into the database with others.
import type { Digest } from "../ports/digest.ts";
import type { Journal } from "./journal.ts";
import type { Leaf } from "./leaf.ts";
import type { Database, Row, SqlValue, Statement } from "./sqlite.ts";

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
  /** Null where it has to be read again. */
  head: Head | null = null;
  /** Of the transaction that is open: entries that are not written yet, and where the accounts stand that they charged. */
  lines: string[] = [];
  accounts: string | null = null;
  #progress: Progress | null = null;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  /** Changes with every commit of somebody else. */
  #version: number | null = null;
  /** Due: it begins with its first statement, and may end without one. */
  #transaction: "none" | "due" | "open" = "none";
  #journal: Journal | null = null;
  /** On disk, in the journal alone. INVARIANT: the log's table is asked for nothing before they are in it. */
  #leaves: Leaf[] = [];
  /** Of the transaction that is due: what it comes to, and how that stands in the journal. */
  #added: { readonly leaf: Leaf; readonly record: Uint8Array } | null = null;
  /** The end of the chain before it. */
  #before: Head | null = null;

  constructor(database: Database, digest: Digest) {
    this.#database = database;
    this.digest = digest;
  }

  /** From now on nobody else writes here. */
  keepJournal(journal: Journal): void {
    this.#journal = journal;
  }

  exec(text: string): void {
    this.#reach(true);
    this.#database.exec(text);
  }

  /** False where somebody else wrote to the file: what is remembered may be old, and what they wrote counts. */
  begin(): boolean {
    this.#before = this.head;
    this.#transaction = "due";
    // Nobody else should; where somebody does, nothing may go to the journal behind an end that is no longer one.
    if (this.#journal !== null && this.#versionNow() === this.#version) return true;
    return this.#open();
  }

  /** Behind everything that stands there. */
  add(leaves: readonly Leaf[]): void {
    const [leaf] = leaves;
    const before = this.#before;
    // The first entry of all goes to the database: a journal that is left over from another log fits no new one then.
    const isBehind = before !== null && before.place > 0;
    const isOnly = leaf !== undefined && leaves.length === 1 && this.#added === null;
    if (this.#transaction === "due" && isOnly && isBehind) {
      const record = this.#journal?.recordOf(leaf, before.hash) ?? null;
      if (record !== null) {
        this.#added = { leaf, record };
        return;
      }
    }
    for (const one of leaves) this.#insert(one, this.prepare(INSERT));
  }

  /** On disk when it returns; where it throws, nobody knows. */
  commit(): void {
    if (this.#added !== null) {
      this.#journal?.write(this.#added.record);
      this.#leaves.push(this.#added.leaf);
    }
    if (this.#transaction === "open") {
      this.#statement("COMMIT").run();
      this.#putIn();
    }
    this.#over();
  }

  rollback(): void {
    const isOpen = this.#transaction === "open";
    this.#over();
    if (isOpen) this.#statement("ROLLBACK").run();
  }

  /** Puts what stands in the journal alone into the database. */
  settle(): void {
    this.#reach(true);
  }

  /** Before anything is asked of the database: of the log, where it has to be whole, or of another table. */
  #reach(isOfLog: boolean): void {
    if (this.#transaction === "due") {
      if (!this.#open()) throw new Error(ANOTHER);
    } else if (this.#transaction === "none" && isOfLog && this.#leaves.length > 0) {
      this.#statement("BEGIN IMMEDIATE").run();
      try {
        if (this.#versionNow() !== this.#version) throw new Error(ANOTHER);
        for (const leaf of this.#leaves) this.#insert(leaf, this.#statement(INSERT));
        this.#statement("COMMIT").run();
      } catch (error) {
        try {
          this.#statement("ROLLBACK").run();
        } catch {
          // There was no transaction any more; what went wrong before is what counts.
        }
        throw error;
      }
      this.#putIn();
    }
  }

  /** False where somebody else wrote since what is remembered was read. */
  #open(): boolean {
    this.#transaction = "open";
    this.#statement("BEGIN IMMEDIATE").run();
    const isOurs = this.#versionNow() === this.#version;
    for (const leaf of this.#leaves) this.#insert(leaf, this.#statement(INSERT));
    // One commit is in one place: what was to go to the journal goes with the rest.
    if (this.#added !== null) this.#insert(this.#added.leaf, this.#statement(INSERT));
    this.#added = null;
    return isOurs;
  }

  #putIn(): void {
    this.#leaves = [];
    this.#journal?.rewind();
  }

  #over(): void {
    this.#transaction = "none";
    this.#added = null;
    this.#before = null;
  }

  #insert({ last, first, accounts, entries }: Leaf, into: Statement): void {
    into.run(...bound([last, first, accounts, entries]));
  }

  #versionNow(): number {
    return numberOf(this.#statement("PRAGMA data_version").get(), "data_version");
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
    this.#version = this.#versionNow();
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
    this.#reach(text.includes(LOG_TABLE));
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
    this.#statements.clear();
    try {
      this.#journal?.close();
    } catch {
      // As below.
    }
    try {
      this.#database.close();
    } catch {
      // Already closed, or the disk is gone; there is nothing left to lose here.
    }
  }
}

const ANOTHER = "somebody else wrote to the state";
/** Nothing else that is asked for hangs on which entries are there. */
const LOG_TABLE = "leaf";
const INSERT = "INSERT INTO leaf (last, first, accounts, entries) VALUES (?, ?, ?, ?)";

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
