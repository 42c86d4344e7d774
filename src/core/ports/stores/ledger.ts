// Accounts and the log in one transaction: a decision is recorded together with all of its charges, or not at all.
import type { Rate } from "../../authority/grant.ts";
import type { Durable } from "./durable.ts";
import type { ChainedEntry, LogEntry, LogQuery } from "./log.ts";

/** One account that a call is charged to. */
export interface AccountCharge {
  /** Stable name of the account, independent of edits to the text of its grant. */
  readonly account: string;
  /** Total calls; null means uncounted. */
  readonly calls: number | null;
  readonly rate: Rate | null;
  /** Limits of what calls cost; null means unlimited. */
  readonly tokens: number | null;
  readonly money: number | null;
  /** Accounts of one holder and one verb form a family. */
  readonly family: string;
  /**
   * The family's accounts that are still in use, including this one: a new account starts with the highest spending of any
   * account of the family that is no longer in use, so that no edit gives a fresh budget.
   */
  readonly written: readonly string[];
}

/** The cost of one call. `money` in millionths of the user's currency; null: its price is not known. */
export interface Cost {
  readonly tokens: number;
  readonly money: number | null;
}

export interface DecisionWrite {
  readonly entry: LogEntry;
  readonly charges: readonly AccountCharge[];
  /**
   * Reserved in every charged account until `settle` replaces it with the actual cost. INVARIANT: what is never settled stays
   * charged. Absent: no account with a limit of tokens or money can be charged.
   */
  readonly reserved?: Cost;
  /** Uses the approval once: it must be approved, not expired, for this digest or wide enough, and have a use left. */
  readonly claim: ApprovalClaim | null;
  /** Generations the decision was made under; each must be unchanged. */
  readonly generations: readonly (readonly [scope: string, generation: number])[];
  /** Delegations it rests on; none may be revoked. */
  readonly links: readonly string[];
  /** The secret that the decided request goes out with: counted and logged here, or nothing is written. */
  readonly secret?: SecretUse;
}

/** One use of a secret, with its own entry. */
export interface SecretUse {
  readonly name: string;
  readonly version: number;
  readonly entry: LogEntry;
}

export interface ApprovalClaim {
  readonly approval: string;
  /** Of the exact call. For an approval of a wider scope the caller has checked coverage; the store checks the rest. */
  readonly digest: string;
  readonly isExact: boolean;
  /** If given, the approval must have been requested under the same value. */
  readonly generation?: number;
}

export type DecisionResult =
  | { readonly ok: true; readonly place: number; readonly left: readonly AccountBalance[] }
  /** Nothing was written. `empty`: the accounts that had nothing left. */
  | { readonly ok: false; readonly code: "budget_exhausted"; readonly empty: readonly string[] }
  | { readonly ok: false; readonly code: "generation_stale" | "revoked" | "approval_required" | "secret_refused" };

export interface AccountBalance {
  readonly account: string;
  readonly left: number;
}

/** What an account has spent; for display. */
export interface AccountState {
  readonly account: string;
  readonly family: string;
  readonly used: number;
  /** With what is reserved. */
  readonly tokens: number;
  readonly money: number;
  readonly at: number;
}

export interface Ledger {
  decide(write: DecisionWrite): Durable<DecisionResult>;
  /**
   * Writes entries other than decisions, adjacent and in the given order. Without a waiting caller the write may be delayed
   * by that many milliseconds, to share a commit.
   */
  append(entries: readonly LogEntry[], patienceMilliseconds?: number): Durable<{ readonly place: number }>;
  /** Writes the outcome of a decision and replaces its reservations with the cost; null: the whole reservation was used. */
  settle(outcome: LogEntry, decision: string, cost: Cost | null): Durable<{ readonly place: number }>;
  /** Synchronous and advisory; the commit decides. True if one more call, of this cost if given, would exceed the account. */
  isEmpty(charge: AccountCharge, now: number, cost?: Cost): boolean;
  /** What is left of the limits of tokens and money; infinite without a limit. Synchronous and advisory. */
  costLeft(charge: AccountCharge): { readonly tokens: number; readonly money: number };
  /** 0 if it was never incremented. Synchronous. */
  generation(scope: string): number;
  /** Increments each scope, with the entry that says why, in one transaction. */
  bump(scopes: readonly string[], entry: LogEntry): Durable<null>;
  log(query: LogQuery): Durable<readonly ChainedEntry[]>;
  /** An entry by its id or an unambiguous prefix, followed by all entries about it, in order. */
  entry(id: string): Durable<{ readonly entry: ChainedEntry; readonly more: readonly ChainedEntry[] } | null>;
  accounts(family: string | null): Durable<readonly AccountState[]>;
}
