// The connection that is believed, with everything that is remembered of it. After any failure it is not believed any more:
// closed, opened and checked again before the next write.
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { Connection } from "./connection.ts";
import { messageOf } from "./failure.ts";
import { tailProblem } from "./log/tail.ts";

const reopenMillisecondsMin = 250;

/** What is known without asking the database. Loaded from it, changed only by jobs, dropped with the connection. */
export interface Mirror {
  load(connection: Connection): void;
  drop(): void;
}

export interface TrustedParts {
  /** Opens and checks; the message says what is wrong and what to do. */
  readonly open: () => DurableResult<Connection>;
  /** Milliseconds of a clock that only goes forward. */
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

  /** Before it is opened, in the order in which they must be loaded. */
  mirror(mirror: Mirror): void {
    this.#mirrors.push(mirror);
  }

  /** Why there is none. */
  get problem(): string {
    return this.#problem;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens again where that is due. Null: nothing is known and every write is refused. */
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

  /** Throws where somebody else wrote what we would sign: the state is opened and checked again then. */
  begin(connection: Connection): void {
    if (connection.begin()) return;
    this.#load(connection);
    const problem = connection.notary === null ? null : tailProblem(connection);
    if (problem !== null) throw new Error(problem);
  }

  /** Back to what is on disk, on the same connection. */
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
    this.#problem = `the state could not be kept: ${messageOf(error)}`;
    const connection = this.#connection;
    this.#connection = null;
    for (const mirror of this.#mirrors) mirror.drop();
    try {
      connection?.rollback();
    } catch {
      // There was no transaction any more; closing ends it in any case.
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
