// The ledger with a second copy of the log: a decision is valid only after both have it; otherwise nothing is executed.
import type { CodedFailure } from "../../core/base/result.ts";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type {
  AccountCharge,
  AccountState,
  Cost,
  DecisionResult,
  DecisionWrite,
  Ledger,
} from "../../core/ports/stores/ledger.ts";
import type { ChainedEntry, LogEntry, LogQuery } from "../../core/ports/stores/log.ts";
import { timeoutLeft } from "../timeout.ts";
import type { SecondCopy } from "./second-copy.ts";

/** The copy that is currently in effect. */
export interface Copies {
  /** Null if none is configured. */
  readonly copy: SecondCopy | null;
  /** Why nothing can be decided, independent of the copy; null if decisions are possible. */
  readonly refusal: string | null;
  /** True if there is neither a copy nor a reason to deny. */
  readonly isPlain: boolean;
}

export interface CopiedLedgerParts {
  readonly ledger: Ledger;
  readonly copies: Copies;
  elapsed(): number;
  /** Written and charged here, but the copy did not confirm it in time, so it is not executed. */
  unconfirmed(write: DecisionWrite): void;
}

export class CopiedLedger implements Ledger {
  readonly #ledger: Ledger;
  readonly #copies: Copies;
  readonly #parts: CopiedLedgerParts;

  constructor(parts: CopiedLedgerParts) {
    this.#ledger = parts.ledger;
    this.#copies = parts.copies;
    this.#parts = parts;
  }

  decide(write: DecisionWrite): Durable<DecisionResult> {
    return this.#copies.isPlain ? this.#ledger.decide(write) : this.#decide(write);
  }

  append(entries: readonly LogEntry[], patienceMilliseconds?: number): Durable<{ readonly place: number }> {
    const written = this.#ledger.append(entries, patienceMilliseconds);
    const { copy } = this.#copies;
    if (copy !== null) void written.then(() => copy.wake());
    return written;
  }

  settle(outcome: LogEntry, decision: string, cost: Cost | null): Durable<{ readonly place: number }> {
    const written = this.#ledger.settle(outcome, decision, cost);
    const { copy } = this.#copies;
    if (copy !== null) void written.then(() => copy.wake());
    return written;
  }

  isEmpty(charge: AccountCharge, now: number, cost?: Cost): boolean {
    return this.#ledger.isEmpty(charge, now, cost);
  }

  costLeft(charge: AccountCharge): ReturnType<Ledger["costLeft"]> {
    return this.#ledger.costLeft(charge);
  }

  generation(scope: string): number {
    return this.#ledger.generation(scope);
  }

  bump(scopes: readonly string[], entry: LogEntry): Durable<null> {
    return this.#ledger.bump(scopes, entry);
  }

  log(query: LogQuery): Durable<readonly ChainedEntry[]> {
    return this.#ledger.log(query);
  }

  entry(id: string): ReturnType<Ledger["entry"]> {
    return this.#ledger.entry(id);
  }

  accounts(family: string | null): Durable<readonly AccountState[]> {
    return this.#ledger.accounts(family);
  }

  async #decide(write: DecisionWrite): Durable<DecisionResult> {
    const { copy, refusal } = this.#copies;
    if (refusal !== null || copy === null) return copyUnavailable(refusal ?? "no second copy of the log is configured");
    const begun = this.#parts.elapsed();
    const left = (): number => timeoutLeft(copy.timeoutMilliseconds, this.#parts.elapsed() - begun);
    // Checked before anything is written and charged: if the copy accepts nothing, nothing is spent.
    if (copy.isLate || !(await copy.ready(left()))) {
      copy.fallBehind();
      return copyUnavailable(`the second copy of the log is behind: ${copy.shown().problem ?? "timeout"}`);
    }
    const written = await this.#ledger.decide(write);
    if (!written.ok || !written.value.ok) return written;
    copy.wake();
    if (await copy.has(written.value.place, left())) return written;
    copy.fallBehind();
    this.#parts.unconfirmed(write);
    return copyUnavailable("the second copy of the log did not receive the entry in time");
  }
}

function copyUnavailable(message: string): CodedFailure<"audit_unavailable"> {
  return { ok: false, code: "audit_unavailable", message };
}
