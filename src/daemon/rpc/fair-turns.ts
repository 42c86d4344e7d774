// Schedules requests: connections take turns, control connections go first, and the daemon returns to its sockets after a
// bounded time.
import { Fifo } from "../../core/base/fifo.ts";
import { turnMilliseconds } from "./limits.ts";

/** The requests of one connection that were read and not started. */
export interface TurnQueue {
  readonly length: number;
  /** `begin` runs in a later event-loop turn. */
  push(begin: () => void): void;
  /** Drops all of its requests. */
  clear(): void;
}

export class FairTurns {
  /** Non-empty queues, each once, in turn order. */
  readonly #control = new Fifo<Queue>();
  readonly #calls = new Fifo<Queue>();
  #isDue = false;

  queue(isControl: boolean): TurnQueue {
    return new Queue((queue) => {
      (isControl ? this.#control : this.#calls).push(queue);
      this.#due();
    });
  }

  #due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const until = performance.now() + turnMilliseconds;
    do {
      if (!step(this.#control) && !step(this.#calls)) break;
    } while (performance.now() < until);
    this.#isDue = false;
    if (this.#control.length + this.#calls.length > 0) this.#due();
  }
}

/** Starts one request of the next queue, which then waits for its next turn. False if all are empty. */
function step(turns: Fifo<Queue>): boolean {
  const queue = turns.take();
  if (queue === undefined) return false;
  const begin = queue.take();
  if (queue.length > 0) turns.push(queue);
  else queue.isWaiting = false;
  begin?.();
  return true;
}

class Queue implements TurnQueue {
  readonly #begins = new Fifo<() => void>();
  readonly #enter: (queue: Queue) => void;
  /** Whether it has a turn scheduled. */
  isWaiting = false;

  constructor(enter: (queue: Queue) => void) {
    this.#enter = enter;
  }

  get length(): number {
    return this.#begins.length;
  }

  push(begin: () => void): void {
    this.#begins.push(begin);
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.#enter(this);
  }

  take(): (() => void) | undefined {
    return this.#begins.take();
  }

  clear(): void {
    this.#begins.clear();
  }
}
