// Adapts an RPC exchange for the code that executes it: a stop signal, and how long to wait for an approval.
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { ApprovalWait } from "./call-ports.ts";

/** One per call, therefore a class: creating a getter for each would cost more than all the rest. */
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

/** Waits for an approval as long as the client does. */
export class ExchangeWait implements ApprovalWait {
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
