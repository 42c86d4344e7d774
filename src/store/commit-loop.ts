// Group commit: the writes of one event-loop turn share one transaction, and their promises resolve once it is on disk.
import { errorMessage } from "../core/base/error-message.ts";
import type { CodedFailure } from "../core/base/result.ts";
import type { Durable, DurableResult } from "../core/ports/stores/durable.ts";
import type { Connection } from "./connection.ts";
import { isOwnFault } from "./failure.ts";
import { writeEntries } from "./log/append.ts";
import { failureCode } from "./sqlite.ts";
import { type Mirror, TrustedConnection, type TrustedParts } from "./trusted-connection.ts";

export const jobsWaitingMax = 20_000;
export const jobBytesMax: number = 4 * 1024 * 1024;
export const bytesWaitingMax: number = 64 * 1024 * 1024;
const jobBytesUsual = 4096;
const patienceMillisecondsMax = 100;

/** Runs to its end inside the transaction. It may run twice, but only after the first run was rolled back. */
export type Job<T> = (connection: Connection) => T;

interface PendingJob {
  readonly job: Job<unknown>;
  readonly answer: (kept: DurableResult<unknown>) => void;
}

export function writeFailure(message: string): CodedFailure<"audit_unavailable"> {
  return { ok: false, code: "audit_unavailable", message };
}

export class CommitLoop {
  readonly #trusted: TrustedConnection;
  readonly #along: Job<void>[] = [];
  #waiting: PendingJob[] = [];
  #bytes = 0;
  #isPlanned = false;
  #later: NodeJS.Timeout | null = null;
  #commits = 0;
  /** Why the last commit failed; null if it succeeded. */
  #failure: string | null = null;
  #onFailure: (why: string | null) => void = () => {};

  constructor(parts: TrustedParts) {
    this.#trusted = new TrustedConnection(parts);
  }

  /** Called when commits begin to fail, and with null when they succeed again. */
  onFailure(told: (why: string | null) => void): void {
    this.#onFailure = told;
  }

  /** Why writing is impossible now, or why the last commit failed; null if all is well. */
  get problem(): string | null {
    return this.isReady() ? this.#failure : this.#trusted.problem;
  }

  /** Registered before the loop is opened, in the order in which they must be loaded. */
  mirror(mirror: Mirror): void {
    this.#trusted.mirror(mirror);
  }

  /** The same for state that only has to be read again. */
  onOpened(load: (connection: Connection) => void): void {
    this.mirror({ load, drop: () => {} });
  }

  /** A job that joins the transaction of other jobs, after them. It must be short and may find nothing to do. */
  along(job: Job<void>): void {
    this.#along.push(job);
  }

  /** Number of committed transactions. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether no write is pending. */
  get isQuiet(): boolean {
    return this.#waiting.length === 0;
  }

  open(): DurableResult<null> {
    return this.isReady() ? { ok: true, value: null } : writeFailure(this.#trusted.problem);
  }

  /** False: no state is loaded and every write is refused. */
  isReady(): boolean {
    return this.#trusted.get() !== null;
  }

  /**
   * `bytes`: about how much it writes; the queue is limited. `patienceMilliseconds`: how long it may wait to share a
   * transaction.
   */
  write<T>(job: Job<T>, bytes: number = jobBytesUsual, patienceMilliseconds = 0): Durable<T> {
    if (bytes > jobBytesMax) return Promise.resolve(writeFailure("this transaction is too large"));
    if (!this.isReady()) return Promise.resolve(writeFailure(this.#trusted.problem));
    if (this.#waiting.length >= jobsWaitingMax || this.#bytes + bytes > bytesWaitingMax)
      return Promise.resolve(writeFailure("the write queue is full"));
    return new Promise((resolve) => {
      this.#bytes += bytes;
      this.#waiting.push({ job, answer: resolve as (kept: DurableResult<unknown>) => void });
      if (patienceMilliseconds > 0) this.#planLater(patienceMilliseconds);
      else this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#run());
  }

  /** An earlier timer is soon enough. Jobs that are pending when it fires came after the last commit, if there was one. */
  #planLater(milliseconds: number): void {
    if (this.#isPlanned || this.#later !== null) return;
    const before = this.#commits;
    const ring = (): void => {
      this.#later = null;
      if (this.#commits === before) this.#run();
      else if (this.#waiting.length > 0) this.#planLater(milliseconds);
    };
    this.#later = setTimeout(ring, Math.min(milliseconds, patienceMillisecondsMax));
  }

  /** Reads committed data, synchronously. */
  read<T>(job: Job<T>): Durable<T> {
    return Promise.resolve(this.readNow(job));
  }

  readNow<T>(job: Job<T>): DurableResult<T> {
    const connection = this.#trusted.get();
    if (connection === null) return writeFailure(this.#trusted.problem);
    try {
      connection.checkFile();
      return { ok: true, value: job(connection) };
    } catch (error) {
      // A failed query says nothing about the disk.
      if (failureCode(error) !== null && isOwnFault(error)) return writeFailure(errorMessage(error));
      this.#trusted.distrust(error);
      return writeFailure(this.#trusted.problem);
    }
  }

  /** Writes pending jobs, and refuses everything from now on. */
  close(): void {
    if (this.#trusted.isClosed) return;
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
    this.#run();
    this.#trusted.close();
  }

  #run(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    this.#isPlanned = false;
    if (batch.length === 0) return;
    const kept = this.#commit(batch);
    for (const [at, { answer }] of batch.entries()) answer(kept[at] ?? writeFailure(this.#trusted.problem));
  }

  /** One result for each job; the same for all if the disk failed. */
  #commit(batch: readonly PendingJob[]): readonly DurableResult<unknown>[] {
    const connection = this.#trusted.get();
    if (connection === null) {
      this.#tell(this.#trusted.problem);
      return [];
    }
    let isJob = false;
    try {
      this.#trusted.begin(connection);
      isJob = true;
      const kept = batch.map(({ job }): DurableResult<unknown> => ({ ok: true, value: job(connection) }));
      for (const job of this.#along) job(connection);
      writeEntries(connection);
      isJob = false;
      connection.commit();
      this.#commits++;
      this.#tell(null);
      return kept;
    } catch (error) {
      if (isJob && isOwnFault(error) && this.#trusted.undo(connection)) {
        if (batch.length === 1) return [writeFailure(errorMessage(error))];
        // One of them cannot be written, so each is committed alone.
        return batch.map((one) => this.#commit([one])[0] ?? writeFailure(this.#trusted.problem));
      }
      this.#tell(errorMessage(error));
      this.#trusted.distrust(error);
      return [];
    }
  }

  /** Once for each change. */
  #tell(failure: string | null): void {
    const isSame = failure === this.#failure;
    this.#failure = failure;
    if (!isSame) this.#onFailure(failure);
  }
}
