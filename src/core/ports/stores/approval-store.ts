// Storage of approvals. Every state change is one durable write together with its log entry.
import type { JsonObject } from "../../base/json.ts";
import type { Durable } from "./durable.ts";
import type { LogEntry, Who } from "./log.ts";

export const APPROVAL_STATES = [
  "pending",
  "approved",
  "refused",
  "expired",
  "executing",
  "done",
  "failed",
  /** The daemon ended while it was executing: a person has to look; nothing is retried automatically. */
  "indeterminate",
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** How far an approval reaches. */
export type ApprovalScope =
  /** This exact call only: by the digest of its arguments. */
  | { readonly kind: "exact" }
  /** Every call of this agent and tool whose asked requests these grants cover: a step of the ladder, as compact specs. */
  | { readonly kind: "grants"; readonly specs: readonly string[] };

export interface ApproverAnswer {
  /** The name given with presence, else the OS account. */
  readonly by: string;
  readonly at: number;
  readonly level: 1 | 2;
  readonly terminal: boolean;
  /** What this person agreed to: a step of the ladder, how often, for how long. The narrowest of all answers counts. */
  readonly step: string;
  readonly uses: number;
  readonly milliseconds: number;
}

/** Which contents an approval depends on, and which it does not: shown with the request. */
export interface ApprovalBinding {
  readonly bound: readonly string[];
  readonly unbound: readonly string[];
}

export interface Approval {
  readonly id: string;
  readonly state: ApprovalState;
  readonly who: Who;
  readonly tool: string;
  /** Digest of the tool or program at the time of the request: an approval never covers another. Null: nothing to pin. */
  readonly pin: string | null;
  /** Null if the call runs neither a program nor a project's tool. */
  readonly binding: ApprovalBinding | null;
  /** Digest of agent, tool, pin, generation and the exact canonical arguments. */
  readonly digest: string;
  readonly generation: number;
  readonly level: 1 | 2;
  /** Required approvers, and who counts; null: anyone. */
  readonly need: number;
  readonly of: readonly string[] | null;
  /** Everything shown to the person: the arguments, secrets redacted. */
  readonly arguments: JsonObject;
  /** In the notation of `ambit can`. */
  readonly requests: readonly string[];
  /** The requests that need approval. */
  readonly asking: readonly string[];
  readonly asked: number;
  /** Both a pending approval and a given one expire. */
  readonly expires: number;
  readonly scope: ApprovalScope;
  readonly usesLeft: number;
  readonly answers: readonly ApproverAnswer[];
  readonly reason: string | null;
  /** How many callers requested exactly this while it was pending. */
  readonly times: number;
}

export interface ApprovalStore {
  /** Returns a live approval with the same digest instead, with `times` incremented and no new entry. */
  ask(approval: Approval, entry: LogEntry): Durable<Approval>;
  /** Compare and set: only from a state in `from`; null if the state was another. */
  change(
    id: string,
    from: readonly ApprovalState[],
    to: Pick<Approval, "state" | "scope" | "usesLeft" | "answers" | "expires" | "reason">,
    entry: LogEntry,
  ): Durable<Approval | null>;
  get(id: string): Durable<Approval | null>;
  /** By state, newest first. */
  list(states: readonly ApprovalState[], count: number): Durable<readonly Approval[]>;
  /** Synchronous: approved ones of this agent that are not expired and have uses left. */
  usable(workspace: string | null, agent: string, now: number): readonly Approval[];
  /** Pending ones of this agent; synchronous. */
  pending(workspace: string | null, agent: string): readonly Approval[];
  /** After a restart, `executing` becomes indeterminate, and expired approvals are marked expired. */
  recover(now: number, entry: (approval: Approval) => LogEntry): Durable<readonly Approval[]>;
}
