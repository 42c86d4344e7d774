// The transaction of a connection. Where the state has one owner, a commit that only adds a few entries goes to the journal, and
// the transaction stays open until they go into the database with others: so long nobody else can write.
import type { Head } from "./connection.ts";
import { messageOf } from "./failure.ts";
import type { Journal } from "./journal.ts";
import type { Leaf } from "./leaf.ts";
import type { SqlValue } from "./sqlite.ts";

/** What it asks the database for. */
export interface TransactionGround {
  run(text: string, ...values: readonly SqlValue[]): void;
  /** Changes with every commit of somebody else. */
  version(): number;
}

export class Transaction {
  readonly #ground: TransactionGround;
  #version: number | null = null;
  /** Whether the database has one open, and with it the one right to write. */
  #isHeld = false;
  /** Due: something was begun that the database has heard nothing of, and need not, where it goes to the journal. */
  #stage: "none" | "due" | "open" = "none";
  #journal: Journal | null = null;
  /**
   * On disk, in the journal alone. INVARIANT: the log's table is asked for nothing before they are in it; and as long as there
   * are any, the right to write is held, or what is remembered is looked at before anything is built on it.
   */
  #leaves: Leaf[] = [];
  /** Of what is due: what it comes to, and how that stands in the journal. */
  #added: { readonly leaf: Leaf; readonly record: Uint8Array } | null = null;
  /** The end of the chain before it. */
  #before: Head | null = null;
  /**
   * Why nobody knows whether the database still has one open. INVARIANT: nothing is asked of it then but its end: a statement
   * would be a commit of its own, or the right to write would stay with somebody who believes to have none.
   */
  #lost: Error | null = null;

  constructor(ground: TransactionGround) {
    this.#ground = ground;
  }

  /** From now on nobody else writes here. */
  keepJournal(journal: Journal): void {
    this.#journal = journal;
  }

  /** What is remembered is what the database says now. */
  remember(): void {
    this.#version = this.#ground.version();
  }

  /** False where somebody else wrote to the file: what is remembered may be old, and what they wrote counts. */
  begin(head: Head | null): boolean {
    const isOurs = this.#hold();
    this.#before = head;
    this.#stage = this.#journal === null || !isOurs ? "open" : "due";
    return isOurs;
  }

  /** Behind everything that stands there. */
  add(leaves: readonly Leaf[]): void {
    const [leaf] = leaves;
    const before = this.#before;
    // The first entry of all goes to the database: a journal that is left over from another log fits no new one then.
    const isBehind = before !== null && before.place > 0;
    const isOnly = leaf !== undefined && leaves.length === 1 && this.#added === null;
    if (this.#stage === "due" && isOnly && isBehind) {
      const record = this.#journal?.recordOf(leaf, before.hash) ?? null;
      if (record !== null) {
        this.#added = { leaf, record };
        return;
      }
    }
    this.reach(true);
    for (const one of leaves) this.#insert(one);
  }

  /** On disk when it returns; where it throws, nobody knows. */
  commit(): void {
    if (this.#added !== null) {
      this.#journal?.write(this.#added.record);
      this.#leaves.push(this.#added.leaf);
    }
    if (this.#isToEnd()) this.#end();
    this.#over();
  }

  rollback(): void {
    const isToEnd = this.#isToEnd();
    this.#over();
    if (isToEnd) this.#undo();
  }

  /**
   * What stands in the journal alone, if nothing else stands at this place and behind it; null where the database has to be
   * asked.
   */
  waitingFrom(place: number): readonly Leaf[] | null {
    const [first] = this.#leaves;
    // Without the right to write somebody else may have gone on behind them: the database tells.
    if (!this.#isHeld || this.#lost !== null || this.#stage !== "none") return null;
    if (first === undefined || place < first.first) return null;
    return this.#leaves.slice(this.#leaves.findLastIndex((leaf) => leaf.first <= place));
  }

  /** Before anything is asked of the database: of the log, where it has to be whole, or of another table. */
  reach(isOfLog: boolean): void {
    if (this.#lost !== null) throw this.#lost;
    if (this.#stage === "due") {
      this.#stage = "open";
      this.#putIn();
      // One commit is in one place: what was to go to the journal goes with the rest.
      if (this.#added !== null) this.#insert(this.#added.leaf);
      this.#added = null;
    } else if (this.#stage === "none" && isOfLog && this.#leaves.length > 0) {
      try {
        this.#hold();
        this.#putIn();
        this.#end();
      } catch (error) {
        throw this.#undone(error);
      }
    }
  }

  /** Puts in what waits, and leaves the right to write to whoever comes next. */
  release(): void {
    this.reach(true);
    if (this.#stage === "none" && this.#isHeld) this.#end();
  }

  /** Gives up what was begun. May throw: what is closed may be what failed, and most often nothing was begun. */
  close(): void {
    try {
      // A driver may go on with a connection whose statements somebody still holds, and with it the right to write.
      this.#undo();
    } finally {
      this.#journal?.close();
    }
  }

  /** False where somebody else wrote since what is remembered was read. Throws where that is not what waits here continues. */
  #hold(): boolean {
    if (this.#lost !== null) throw this.#lost;
    if (this.#isHeld) return true;
    this.#ground.run("BEGIN IMMEDIATE");
    this.#isHeld = true;
    const isOurs = this.#ground.version() === this.#version;
    if (!isOurs && this.#leaves.length > 0) {
      this.#undo();
      throw new Error(ANOTHER);
    }
    return isOurs;
  }

  /** Held on to only for the sake of what waits. */
  #isToEnd(): boolean {
    return this.#stage === "open" || (this.#isHeld && this.#leaves.length === 0);
  }

  #putIn(): void {
    for (const leaf of this.#leaves) this.#insert(leaf);
  }

  #end(): void {
    this.#ground.run("COMMIT");
    this.#isHeld = false;
    this.#leaves = [];
    this.#journal?.rewind();
  }

  #undo(): void {
    try {
      this.#ground.run("ROLLBACK");
    } catch (error) {
      this.#lost ??= new Error(messageOf(error));
      throw error;
    }
    this.#isHeld = false;
  }

  /** What went wrong before is what counts. Where it cannot be undone it is nobody's own fault, and whoever hears of it closes. */
  #undone(error: unknown): unknown {
    try {
      this.#undo();
      return error;
    } catch {
      this.#lost = new Error(messageOf(error));
      return this.#lost;
    }
  }

  #over(): void {
    this.#stage = "none";
    this.#added = null;
    this.#before = null;
  }

  #insert({ last, first, accounts, entries, note }: Leaf): void {
    this.#ground.run(INSERT, last, first, accounts, entries, note);
  }
}

const ANOTHER = "somebody else wrote to the state";
const INSERT = "INSERT INTO leaf (last, first, accounts, entries, note) VALUES (?, ?, ?, ?, ?)";
