// The memory of all connections together, so that many of them cannot exceed what one may not.
import { connectionMemoryBytesMax } from "./limits.ts";

export class ConnectionMemory {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** False if this exceeds the total limit: the connection that caused it is closed. */
  change(before: number, after: number): boolean {
    this.#total += after - before;
    return after <= before || this.#total <= connectionMemoryBytesMax;
  }
}
