// The one who asks, for those who carry out what was asked: when to stop, and how long to wait for a person.
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Waiting } from "./call-ports.ts";

/** One for every call, and so of a class: to make a getter for each costs more than all of the rest. */
export class ExchangeStop implements CancelSignal {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get stopped(): boolean {
    return this.#exchange.isStopped;
  }

  onStop(ring: () => void): void {
    this.#exchange.onStop(ring);
  }
}

/** How a call waits for a person: as long as its asker does. */
export class ExchangeWaiting implements Waiting {
  readonly milliseconds: number;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, milliseconds: number) {
    this.#exchange = exchange;
    this.milliseconds = milliseconds;
  }

  get isStopped(): boolean {
    return this.#exchange.isStopped;
  }

  onStop(ring: () => void): void {
    this.#exchange.onStop(ring);
  }

  asked(approval: string): void {
    this.#exchange.tell({ waiting: approval });
  }
}
