// Accounts and the log, in one durable step: a decision is written and everything it costs is charged, or nothing is.
import type { Rate } from "../../authority/grant.ts";
import type { Durable } from "./durable.ts";
import type { LogEntry, LogQuery, PlacedEntry } from "./log.ts";

/** One account a call is charged to. */
export interface AccountCharge {
  /** Names the account, whatever becomes of the text it was written in. */
  readonly account: string;
  /** Calls altogether; null is not counted so. */
  readonly calls: number | null;
  readonly rate: Rate | null;
  /** Accounts of one holder and one verb are kin. */
  readonly family: string;
  /** The family's accounts that are still written, this one among them: a new account begins with the most that any account
   * of the family which is not written any more has spent, so that no edit gives a fresh budget. */
  readonly written: readonly string[];
}

export interface DecisionWrite {
  readonly entry: LogEntry;
  readonly charges: readonly AccountCharge[];
  /** Use one of the approval: it must be approved, alive, for this digest or wide enough, and have a use left. */
  readonly claim: ApprovalClaim | null;
  /** What the decision was made under; each must still be so. */
  readonly generations: readonly (readonly [scope: string, generation: number])[];
  /** Delegations it rests on; none may be revoked. */
  readonly links: readonly string[];
}

export interface ApprovalClaim {
  readonly approval: string;
  /** Of the exact call. For an approval of a wider scope the caller has checked that it covers; the store checks the rest. */
  readonly digest: string;
  readonly isExact: boolean;
  /** Where it is given, the approval must have been asked under the same one. */
  readonly generation?: number;
}

export type DecisionWritten =
  | { readonly ok: true; readonly place: number; readonly left: readonly AccountLeft[] }
  /** Nothing was written. `empty`: the accounts that had nothing left. */
  | { readonly ok: false; readonly code: "budget_exhausted"; readonly empty: readonly string[] }
  | { readonly ok: false; readonly code: "generation_stale" | "revoked" | "approval_required" };

export interface AccountLeft {
  readonly account: string;
  readonly left: number;
}

/** What an account has spent; for showing. */
export interface AccountState {
  readonly account: string;
  readonly family: string;
  readonly used: number;
  readonly at: number;
}

export interface Ledger {
  decide(write: DecisionWrite): Durable<DecisionWritten>;
  /** Everything that is not a decision. In the order given, with nothing of others between. Waits so long at most for others
   * to be written with, where nobody waits for it. */
  append(entries: readonly LogEntry[], patienceMilliseconds?: number): Durable<{ readonly place: number }>;
  /** As far as is known now, without waiting; the commit decides. True where one more call would be too many. */
  isEmpty(charge: AccountCharge, now: number): boolean;
  /** 0 where it was never bumped. Known without waiting. */
  generation(scope: string): number;
  /** Each scope one up, with the entry that says why, in one step. */
  bump(scopes: readonly string[], entry: LogEntry): Durable<null>;
  log(query: LogQuery): Durable<readonly PlacedEntry[]>;
  /** An entry by its id, or by a beginning of it that is unambiguous; and everything that tells more of it, in order. */
  entry(id: string): Durable<{ readonly entry: PlacedEntry; readonly more: readonly PlacedEntry[] } | null>;
  accounts(family: string | null): Durable<readonly AccountState[]>;
}
