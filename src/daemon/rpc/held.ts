// What all connections together keep in memory, so that many of them cannot do what one may not.
import { heldBytesMax } from "./limits.ts";

export class Held {
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** False where this is more than all of them may have: whoever made it so is cut. */
  change(before: number, after: number): boolean {
    this.#total += after - before;
    return after <= before || this.#total <= heldBytesMax;
  }
}
