// The current connection, with all in-memory state derived from it. After any failure it is discarded: closed, opened
// and checked again before the next write.
import { errorMessage } from "../core/base/error-message.ts";
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { Connection } from "./connection.ts";
import { tailProblem } from "./log/tail.ts";

const reopenMillisecondsMin = 250;

/** In-memory state. Loaded from the database, changed only by jobs, dropped with the connection. */
export interface Mirror {
  load(connection: Connection): void;
  drop(): void;
}

export interface TrustedParts {
  /** Opens and checks; the message says what is wrong and what to do. */
  readonly open: () => DurableResult<Connection>;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

export class TrustedConnection {
  readonly #parts: TrustedParts;
  readonly #mirrors: Mirror[] = [];
  #connection: Connection | null = null;
  #isClosed = false;
  #problem = "the state is not open yet";
  #tried = Number.NEGATIVE_INFINITY;

  constructor(parts: TrustedParts) {
    this.#parts = parts;
  }

  /** Registered before it is opened, in the order in which they must be loaded. */
  mirror(mirror: Mirror): void {
    this.#mirrors.push(mirror);
  }

  /** Why there is no connection. */
  get problem(): string {
    return this.#problem;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens again if that is due. Null: no state is loaded and every write is refused. */
  get(): Connection | null {
    if (this.#connection !== null) return this.#connection;
    if (this.#isClosed) return null;
    const now = this.#parts.elapsed();
    if (now - this.#tried < reopenMillisecondsMin) return null;
    this.#tried = now;
    try {
      const opened = this.#parts.open();
      if (!opened.ok) {
        this.#problem = opened.message;
        return null;
      }
      this.#connection = opened.value;
      this.#load(opened.value);
      return this.#connection;
    } catch (error) {
      this.distrust(error);
      return null;
    }
  }

  /**
   * Throws if another process wrote entries that we would sign, or replaced the file: the state is then opened and checked
   * again.
   */
  begin(connection: Connection): void {
    connection.checkFile();
    if (connection.begin()) return;
    this.#load(connection);
    const problem = connection.notary === null ? null : tailProblem(connection);
    if (problem !== null) throw new Error(problem);
  }

  /** Rolls back to what is on disk, on the same connection. */
  undo(connection: Connection): boolean {
    try {
      connection.rollback();
      this.#load(connection);
      return true;
    } catch {
      return false;
    }
  }

  distrust(error: unknown): void {
    this.#problem = `the state could not be stored: ${errorMessage(error)}`;
    const connection = this.#connection;
    this.#connection = null;
    for (const mirror of this.#mirrors) mirror.drop();
    try {
      connection?.rollback();
    } catch {
      // There was no open transaction any more; closing ends it in any case.
    }
    connection?.close();
    this.get();
  }

  close(): void {
    this.#isClosed = true;
    this.#problem = "the state is closed";
    if (this.#connection !== null) foldIn(this.#connection);
    this.#connection?.close();
    this.#connection = null;
    for (const mirror of this.#mirrors) mirror.drop();
  }

  #load(connection: Connection): void {
    connection.forget();
    for (const mirror of this.#mirrors) mirror.drop();
    for (const mirror of this.#mirrors) mirror.load(connection);
  }
}

/**
 * Checkpoints the WAL, so that a copy of the file alone is the whole state. With a concurrent reader nothing is lost:
 * the rest stays in the WAL.
 */
function foldIn(connection: Connection): void {
  try {
    // Closing never waits for a reader.
    connection.exec("PRAGMA busy_timeout = 0");
    connection.get("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The disk is full or gone; acknowledged data is in the WAL beside the file, and is found there.
  }
}
