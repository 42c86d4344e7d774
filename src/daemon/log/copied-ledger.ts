// The ledger where a second copy of the log is kept: a decision counts once both have it, or nothing is done.
import type { Durable } from "../../core/ports/stores/durable.ts";
import type {
  AccountCharge,
  AccountState,
  DecisionWrite,
  DecisionWritten,
  Ledger,
} from "../../core/ports/stores/ledger.ts";
import type { LogEntry, LogQuery, PlacedEntry } from "../../core/ports/stores/log.ts";
import { patienceLeft } from "../patience.ts";
import type { SecondCopy } from "./second-copy.ts";

/** Which copy counts now. */
export interface Copies {
  /** Null where none is kept. */
  readonly copy: SecondCopy | null;
  /** Why nothing can be decided, whatever copy there is; null where it can. */
  readonly refusal: string | null;
  /** Whether neither a copy nor a reason stands in the way. */
  readonly isPlain: boolean;
}

export interface CopiedParts {
  readonly ledger: Ledger;
  readonly copies: Copies;
  elapsed(): number;
  /** It was written and charged here, the copy has not got it in time, and so it is not carried out. */
  unheard(write: DecisionWrite): void;
}

export class CopiedLedger implements Ledger {
  readonly #ledger: Ledger;
  readonly #copies: Copies;
  readonly #parts: CopiedParts;

  constructor(parts: CopiedParts) {
    this.#ledger = parts.ledger;
    this.#copies = parts.copies;
    this.#parts = parts;
  }

  decide(write: DecisionWrite): Durable<DecisionWritten> {
    return this.#copies.isPlain ? this.#ledger.decide(write) : this.#decide(write);
  }

  append(entries: readonly LogEntry[], patienceMilliseconds?: number): Durable<{ readonly place: number }> {
    const written = this.#ledger.append(entries, patienceMilliseconds);
    const { copy } = this.#copies;
    if (copy !== null) void written.then(() => copy.wake());
    return written;
  }

  isEmpty(charge: AccountCharge, now: number): boolean {
    return this.#ledger.isEmpty(charge, now);
  }

  generation(scope: string): number {
    return this.#ledger.generation(scope);
  }

  bump(scopes: readonly string[], entry: LogEntry): Durable<null> {
    return this.#ledger.bump(scopes, entry);
  }

  log(query: LogQuery): Durable<readonly PlacedEntry[]> {
    return this.#ledger.log(query);
  }

  entry(id: string): ReturnType<Ledger["entry"]> {
    return this.#ledger.entry(id);
  }

  accounts(family: string | null): Durable<readonly AccountState[]> {
    return this.#ledger.accounts(family);
  }

  async #decide(write: DecisionWrite): Durable<DecisionWritten> {
    const { copy, refusal } = this.#copies;
    if (refusal !== null || copy === null) return unheard(refusal ?? "no second copy of the log is configured");
    const begun = this.#parts.elapsed();
    const left = (): number => patienceLeft(copy.timeoutMilliseconds, this.#parts.elapsed() - begun);
    // Before anything is written and charged: where the copy takes nothing, nothing is spent.
    if (copy.isLate || !(await copy.ready(left()))) {
      copy.fallBehind();
      return unheard(`the second copy of the log is behind: ${copy.shown().problem ?? "timeout"}`);
    }
    const written = await this.#ledger.decide(write);
    if (!written.ok || !written.value.ok) return written;
    copy.wake();
    if (await copy.has(written.value.place, left())) return written;
    copy.fallBehind();
    this.#parts.unheard(write);
    return unheard("the second copy of the log did not receive the entry in time");
  }
}

function unheard(message: string): {
  readonly ok: false;
  readonly code: "audit_unavailable";
  readonly message: string;
} {
  return { ok: false, code: "audit_unavailable", message };
}
