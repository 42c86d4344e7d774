// Group commit: what is asked for in one turn is written in one transaction, and nobody hears of it before it is on disk.
// After any failure the connection is not believed any more: closed, opened and checked again before the next write.
import type { Durable, Kept } from "../ports/durable.ts";
import type { Connection } from "./connection.ts";
import { numberOf } from "./connection.ts";
import { failureCode } from "./sqlite.ts";

export const jobsWaitingMax = 20_000;
export const jobBytesMax: number = 4 * 1024 * 1024;
export const bytesWaitingMax: number = 64 * 1024 * 1024;
const jobBytesUsual = 4096;
const reopenMillisecondsMin = 250;

/** Runs to its end inside the transaction. It may run twice, but only after the first was undone. */
export type Job<T> = (connection: Connection) => T;

/** What is known without asking the database. Loaded from it, changed only by jobs, dropped with the connection. */
export interface Mirror {
  load(connection: Connection): void;
  drop(): void;
}

export interface LoopParts {
  /** Opens and checks; the message says what is wrong and what to do. */
  readonly open: () => Kept<Connection>;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
}

interface Waiting {
  readonly job: Job<unknown>;
  readonly answer: (kept: Kept<unknown>) => void;
}

export function unkept(message: string): { readonly ok: false; readonly code: "audit_unavailable"; message: string } {
  return { ok: false, code: "audit_unavailable", message };
}

export class CommitLoop {
  readonly #parts: LoopParts;
  readonly #mirrors: Mirror[] = [];
  readonly #along: Job<void>[] = [];
  #waiting: Waiting[] = [];
  #bytes = 0;
  #isPlanned = false;
  #isClosed = false;
  #connection: Connection | null = null;
  #version = 0;
  #problem = "the state is not open yet";
  #tried = Number.NEGATIVE_INFINITY;
  #commits = 0;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Before the loop is opened, in the order in which they must be loaded. */
  mirror(mirror: Mirror): void {
    this.#mirrors.push(mirror);
  }

  /** The same for what only has to be read again. */
  onOpened(load: (connection: Connection) => void): void {
    this.mirror({ load, drop: () => {} });
  }

  /** Work that rides in the transaction of others, after them. It must be short and may find nothing to do. */
  along(job: Job<void>): void {
    this.#along.push(job);
  }

  /** Transactions that were committed. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether nobody waits for a write now. */
  get isQuiet(): boolean {
    return this.#waiting.length === 0;
  }

  open(): Kept<null> {
    return this.isReady() ? { ok: true, value: null } : unkept(this.#problem);
  }

  /** Opens again where that is due. False: nothing is known and every write is refused. */
  isReady(): boolean {
    if (this.#connection !== null) return true;
    if (this.#isClosed) return false;
    const now = this.#parts.elapsed();
    if (now - this.#tried < reopenMillisecondsMin) return false;
    this.#tried = now;
    try {
      const opened = this.#parts.open();
      if (!opened.ok) {
        this.#problem = opened.message;
        return false;
      }
      this.#connection = opened.value;
      this.#load(opened.value);
      return true;
    } catch (error) {
      this.#distrust(error);
      return false;
    }
  }

  /** `bytes`: about how much it writes; what waits is limited. */
  write<T>(job: Job<T>, bytes: number = jobBytesUsual): Durable<T> {
    if (bytes > jobBytesMax) return Promise.resolve(unkept("this is too much to write at once"));
    if (!this.isReady()) return Promise.resolve(unkept(this.#problem));
    if (this.#waiting.length >= jobsWaitingMax || this.#bytes + bytes > bytesWaitingMax)
      return Promise.resolve(unkept("too much is waiting to be written"));
    return new Promise((resolve) => {
      this.#bytes += bytes;
      this.#waiting.push({ job, answer: resolve as (kept: Kept<unknown>) => void });
      if (this.#isPlanned) return;
      this.#isPlanned = true;
      setImmediate(() => this.#run());
    });
  }

  /** Reads what is committed; nothing waits in between. */
  read<T>(job: Job<T>): Durable<T> {
    return Promise.resolve(this.readNow(job));
  }

  readNow<T>(job: Job<T>): Kept<T> {
    if (!this.isReady()) return unkept(this.#problem);
    try {
      return { ok: true, value: job(this.#connection as Connection) };
    } catch (error) {
      // A question that cannot be answered says nothing about the disk.
      if (failureCode(error) !== null && isOwnFault(error)) return unkept(messageOf(error));
      this.#distrust(error);
      return unkept(this.#problem);
    }
  }

  /** Writes what waits, and refuses everything from now on. */
  close(): void {
    if (this.#isClosed) return;
    this.#run();
    this.#isClosed = true;
    this.#problem = "the state is closed";
    if (this.#connection !== null) foldIn(this.#connection);
    this.#connection?.close();
    this.#connection = null;
    for (const mirror of this.#mirrors) mirror.drop();
  }

  #run(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    this.#isPlanned = false;
    if (batch.length === 0) return;
    const kept = this.#commit(batch);
    for (const [at, { answer }] of batch.entries()) answer(kept[at] ?? unkept(this.#problem));
  }

  /** One answer for each; where the disk failed, the same for all. */
  #commit(batch: readonly Waiting[]): readonly Kept<unknown>[] {
    if (!this.isReady()) return [];
    const connection = this.#connection as Connection;
    let isJob = false;
    try {
      this.#begin(connection);
      isJob = true;
      const kept = batch.map(({ job }): Kept<unknown> => ({ ok: true, value: job(connection) }));
      for (const job of this.#along) job(connection);
      isJob = false;
      connection.run("COMMIT");
      this.#commits++;
      return kept;
    } catch (error) {
      if (isJob && isOwnFault(error) && this.#undo(connection)) {
        if (batch.length === 1) return [unkept(messageOf(error))];
        // One of them cannot be written; the others must not suffer for it.
        return batch.map((one) => this.#commit([one])[0] ?? unkept(this.#problem));
      }
      this.#distrust(error);
      return [];
    }
  }

  #begin(connection: Connection): void {
    connection.run("BEGIN IMMEDIATE");
    // Somebody else wrote to the file: what we remember may be old, what they wrote counts.
    if (dataVersion(connection) !== this.#version) this.#load(connection);
  }

  #load(connection: Connection): void {
    this.#version = dataVersion(connection);
    connection.head = null;
    for (const mirror of this.#mirrors) mirror.drop();
    for (const mirror of this.#mirrors) mirror.load(connection);
  }

  /** Back to what is on disk, on the same connection. */
  #undo(connection: Connection): boolean {
    try {
      connection.run("ROLLBACK");
      this.#load(connection);
      return true;
    } catch {
      return false;
    }
  }

  #distrust(error: unknown): void {
    this.#problem = `the state could not be kept: ${messageOf(error)}`;
    const connection = this.#connection;
    this.#connection = null;
    for (const mirror of this.#mirrors) mirror.drop();
    try {
      connection?.run("ROLLBACK");
    } catch {
      // There was no transaction any more; closing ends it in any case.
    }
    connection?.close();
    this.isReady();
  }
}

/** A copy of the file alone is then the whole state. Where somebody reads it still, nothing is lost: the rest stays beside it. */
function foldIn(connection: Connection): void {
  try {
    // Nobody who ends waits for a reader.
    connection.exec("PRAGMA busy_timeout = 0");
    connection.get("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The disk is full or gone; what was acknowledged is in the log beside the file, and is found there.
  }
}

function dataVersion(connection: Connection): number {
  return numberOf(connection.get("PRAGMA data_version"), "data_version");
}

/** Not the disk's: a row that is there already, a value that does not fit, a mistake of ours. */
export function isOwnFault(error: unknown): boolean {
  const code = failureCode(error);
  // Error, too big, constraint, mismatch, misuse, range: the numbers are SQLite's and do not change.
  return code === null || [1, 18, 19, 20, 21, 25].includes(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
