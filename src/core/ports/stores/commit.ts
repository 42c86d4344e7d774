// The one durable step of a call: every account is charged and the decision is written, all or nothing, before
// anything happens.
import type { Basis, DenialCode } from "../../authority/decision.ts";
import type { Level } from "../../authority/grant.ts";
import type { Request } from "../../authority/request.ts";

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
  /** What a person has to say to it: 0 nothing, 1 yes, 2 yes with presence. */
  readonly level: Level;
  /** What was asked for and not covered. */
  readonly need: Request | null;
  /** The approval that is used by an allow, or that a denial waits for. */
  readonly approval: string | null;
  /** Why a person refused. */
  readonly reason: string | null;
  /** The entry of the call in the course of which this is decided. */
  readonly call?: string;
}

export type CommitResult =
  | { readonly ok: true; readonly receipt: string }
  /** `budget_exhausted`: another call took the last of it. `audit_unavailable`: nothing could be written. `not_available`: the asker gave up. */
  | { readonly ok: false; readonly code: CommitCode };

export type CommitCode =
  | "budget_exhausted"
  | "generation_stale"
  | "revoked"
  | "approval_required"
  | "not_available"
  | "audit_unavailable";

export type Commit = (entry: Entry) => Promise<CommitResult>;

/** What became of a decision that was carried out. A decision without one shows as unknown. */
export interface Outcome {
  readonly receipt: string;
  readonly ended: string;
  /** `id`: the entry of a denial that has one of its own. */
  readonly denials: readonly {
    readonly code: DenialCode;
    readonly request: string;
    readonly times: number;
    readonly id?: string;
  }[];
  readonly enforcement: readonly { readonly axis: string; readonly strength: string }[];
  readonly wallMicroseconds: number;
}

/** Written after the effect; false where it could not be. */
export type Settle = (outcome: Outcome) => Promise<boolean>;
