// The one durable transaction of a call: every account is charged and the decision is recorded, all or nothing, before
// the call has any effect.
import type { Basis, DenialCode } from "../../authority/decision.ts";
import type { Level } from "../../authority/grant.ts";
import type { Request } from "../../authority/request.ts";
import type { Cost, SecretUse } from "./ledger.ts";

/** One account to charge: of a grant, or of a whole link. */
export interface Charge {
  readonly link: string;
  readonly grant: number;
}

export interface Entry {
  readonly agent: string;
  readonly tool: string;
  readonly requests: readonly Request[];
  readonly outcome: "allow" | "ask" | "deny";
  readonly code: DenialCode | null;
  readonly basis: readonly Basis[];
  readonly charges: readonly Charge[];
  /** Reserved in every charged account until the outcome is settled. */
  readonly reserved?: Cost;
  /** Used by what an allow decides. */
  readonly secret?: SecretUse;
  /** Required approval level: 0 none, 1 approval, 2 approval with presence. */
  readonly level: Level;
  /** The request that was not covered. */
  readonly need: Request | null;
  /** The approval that an allow uses, or that a denial waits for. */
  readonly approval: string | null;
  /** Why a person refused. */
  readonly reason: string | null;
  /** The entry of the running call during which this is decided. */
  readonly call?: string;
  /** A denial in shadow mode: recorded, and the call is left to its client. */
  readonly isShadow?: true;
}

export type CommitResult =
  | { readonly ok: true; readonly receipt: string }
  /**
   * `budget_exhausted`: another call used the last of it. `audit_unavailable`: nothing could be written. `not_available`: the
   * caller cancelled. `secret_refused`: the secret was changed, or its last use was taken.
   */
  | { readonly ok: false; readonly code: CommitCode };

export type CommitCode =
  | "budget_exhausted"
  | "generation_stale"
  | "revoked"
  | "frozen"
  | "approval_required"
  | "secret_refused"
  | "not_available"
  | "audit_unavailable";

export type Commit = (entry: Entry) => Promise<CommitResult>;

/** The outcome of an executed decision. A decision without one shows as unknown. */
export interface Outcome {
  readonly receipt: string;
  readonly ended: string;
  /** `id`: the denial's own entry, if it has one. */
  readonly denials: readonly {
    readonly code: DenialCode;
    readonly request: string;
    readonly times: number;
    readonly id?: string;
  }[];
  readonly enforcement: readonly { readonly axis: string; readonly strength: string }[];
  readonly wallMicroseconds: number;
}

/** Written after the effect; false if that failed. */
export type Settle = (outcome: Outcome) => Promise<boolean>;
