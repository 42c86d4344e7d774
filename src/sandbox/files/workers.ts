// Starts a worker on the first request and again after it ended; gives up when workers keep ending without an answer.
import { type AnswerCallback, FileWorker, type WorkerEnforcement, type WorkerOptions } from "./worker.ts";

/** Consecutive ends without an answer in between. */
const vainStartsMax = 3;
const startsMax = 10_000;
/** Requests in flight, or waiting for a worker's set-up. */
const waitingMax = 16_384;

export class FileWorkers {
  readonly #start: WorkerOptions;
  #worker: FileWorker | null = null;
  #ready: FileWorker | null = null;
  #waiting: { readonly request: Buffer; readonly answered: AnswerCallback }[] = [];
  #starts = 0;
  #vain = 0;
  #closed = false;

  constructor(start: WorkerOptions) {
    this.#start = start;
  }

  get enforcement(): WorkerEnforcement | null {
    return this.#ready?.enforcement ?? null;
  }

  get processId(): number | undefined {
    return this.#worker?.processId;
  }

  ask(request: Buffer, answered: AnswerCallback): void {
    if (this.#ready !== null && this.#ready.pending >= waitingMax) {
      answered(null);
      return;
    }
    if (this.#ready !== null) {
      this.#ready.ask(request, (payload) => {
        if (payload !== null) this.#vain = 0;
        answered(payload);
      });
      return;
    }
    if (!this.#begin() || this.#waiting.length >= waitingMax) answered(null);
    else this.#waiting.push({ request, answered });
  }

  close(): void {
    this.#closed = true;
    this.#worker?.end();
  }

  /** The answer for a worker that could not be understood. */
  breakOff(): void {
    this.#worker?.end();
  }

  #begin(): boolean {
    if (this.#worker !== null) return true;
    if (this.#closed || this.#vain >= vainStartsMax || this.#starts >= startsMax) return false;
    this.#starts++;
    this.#vain++;
    this.#worker = new FileWorker(
      this.#start,
      (worker) => this.#serve(worker),
      (worker) => this.#forget(worker),
    );
    return true;
  }

  #serve(worker: FileWorker): void {
    this.#ready = worker;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { request, answered } of waiting) this.ask(request, answered);
  }

  #forget(worker: FileWorker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#ready = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { answered } of waiting) answered(null);
  }
}
