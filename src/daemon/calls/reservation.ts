// A call whose cost is known only after it: the most that it can cost is reserved in the commit of its decision, and replaced by
// the actual cost when the call reports it. A reservation without a report stays charged.
import type { CommitResult, Entry } from "../../core/ports/stores/commit.ts";
import type { Cost } from "../../core/ports/stores/ledger.ts";
import type { ModelUsage } from "../../sandbox/plan/sandboxes.ts";
import type { RequestCost } from "../programs/model-cost.ts";
import type { CallPorts } from "./call-ports.ts";

/** One for each call. Its `commit` replaces the commit of the call's decision. */
export class Reservation {
  readonly #cost: RequestCost;
  readonly #ports: CallPorts;
  #reserved: Cost | null = null;
  #isLimited = false;
  #isUsed = false;

  constructor(ports: CallPorts, cost: RequestCost) {
    this.#ports = ports;
    this.#cost = cost;
  }

  /** What a grant has to bear, or it does not cover the call. */
  get least(): Cost {
    return this.#cost.least;
  }

  /** The maximum of output to set in the request; null: as it is written. */
  get outputTokens(): number | null {
    return this.#reserved === null || !this.#isLimited ? null : this.#cost.outputOf(this.#reserved);
  }

  async commit(entry: Entry): Promise<CommitResult> {
    if (entry.outcome !== "allow") return this.#ports.commit(entry);
    const left = this.#ports.costLeft(entry.charges);
    const reserved = left === null ? null : this.#cost.within(left);
    if (left === null || reserved === null) return { ok: false, code: "budget_exhausted" };
    const written = await this.#ports.commit({ ...entry, reserved });
    if (!written.ok) return written;
    this.#reserved = reserved;
    this.#isLimited = Number.isFinite(Math.min(left.tokens, left.money));
    return written;
  }

  /** False where it was used before: one reservation is for one request to a model. */
  use(): boolean {
    const isFirst = !this.#isUsed && this.#reserved !== null;
    this.#isUsed = true;
    return isFirst;
  }

  /** `cost`: by the usage of the answer; null: the whole reservation. */
  settled(usage: ModelUsage): { readonly cost: Cost | null; readonly reserved: Cost | null } {
    const reserved = this.#reserved;
    return { cost: reserved === null ? null : this.#cost.actual(usage, reserved), reserved };
  }

  /** Nothing was sent: the call ended before its request to the model. */
  get isUnused(): boolean {
    return this.#reserved !== null && !this.#isUsed;
  }
}
