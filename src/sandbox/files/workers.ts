// A worker whenever one is needed: started with the first request, started again when it ended, given up when it ends
// again and again without having answered anything.
import { type Answered, FileWorker, type Held, type Start } from "./worker.ts";

/** Ends one after the other, without an answer between them. */
const vainStartsMax = 3;
const startsMax = 10_000;
/** Requests under way, or waiting for a worker to be set up. */
const waitingMax = 16_384;

export class FileWorkers {
  readonly #start: Start;
  #worker: FileWorker | null = null;
  #ready: FileWorker | null = null;
  #waiting: { readonly request: Buffer; readonly answered: Answered }[] = [];
  #starts = 0;
  #vain = 0;
  #closed = false;

  constructor(start: Start) {
    this.#start = start;
  }

  get held(): Held | null {
    return this.#ready?.held ?? null;
  }

  get processId(): number | undefined {
    return this.#worker?.processId;
  }

  ask(request: Buffer, answered: Answered): void {
    if (this.#ready !== null && this.#ready.owed >= waitingMax) {
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

  /** What the worker does not understand of itself: a broken answer. */
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
