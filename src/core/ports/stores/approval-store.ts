// Where approvals are kept. Every step is one durable write together with the entry that tells of it.
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
  /** We ended while it was executing: a person has to look, nothing is tried again by itself. */
  "indeterminate",
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** How far an answer reaches. */
export type ApprovalScope =
  /** This call and no other: by the digest of its exact arguments. */
  | { readonly kind: "exact" }
  /** Every call of this agent and tool whose asked requests these grants cover: a step of the ladder, as compact specs. */
  | { readonly kind: "grants"; readonly specs: readonly string[] };

export interface ApprovalAnswerGiven {
  /** Who: the name given with presence, else the OS account. */
  readonly by: string;
  readonly at: number;
  readonly level: 1 | 2;
  readonly terminal: boolean;
  /** What this person agreed to: a step of the ladder, how often, for how long. The narrowest of all of them counts. */
  readonly step: string;
  readonly uses: number;
  readonly milliseconds: number;
}

/** Which contents an answer depends on, and which it does not: shown with the question. */
export interface ApprovalBinding {
  readonly bound: readonly string[];
  readonly unbound: readonly string[];
}

export interface Approval {
  readonly id: string;
  readonly state: ApprovalState;
  readonly who: Who;
  readonly tool: string;
  /** What the tool or the program was when it was asked for: an answer never serves another. Null: nothing to pin. */
  readonly pin: string | null;
  /** Null where the call runs neither a program nor a project's tool. */
  readonly binding: ApprovalBinding | null;
  /** Of agent, tool, pin, generation and the exact canonical arguments. */
  readonly digest: string;
  readonly generation: number;
  readonly level: 1 | 2;
  /** People who must agree, and who counts; null: anybody. */
  readonly need: number;
  readonly of: readonly string[] | null;
  /** Every byte a person sees: the arguments, secrets redacted. */
  readonly arguments: JsonObject;
  /** In the notation of `ambit can`. */
  readonly requests: readonly string[];
  /** Those of them that ask. */
  readonly asking: readonly string[];
  readonly asked: number;
  /** A question is not open for ever; an answer neither. */
  readonly expires: number;
  readonly scope: ApprovalScope;
  readonly usesLeft: number;
  readonly answers: readonly ApprovalAnswerGiven[];
  readonly reason: string | null;
  /** How many callers asked for exactly this while it was pending. */
  readonly times: number;
}

export interface ApprovalStore {
  /** A live one with the same digest is returned instead, with `times` one up and no new entry. */
  ask(approval: Approval, entry: LogEntry): Durable<Approval>;
  /** Compare and set: only from a state in `from`; null where it was in another. */
  change(
    id: string,
    from: readonly ApprovalState[],
    to: Pick<Approval, "state" | "scope" | "usesLeft" | "answers" | "expires" | "reason">,
    entry: LogEntry,
  ): Durable<Approval | null>;
  get(id: string): Durable<Approval | null>;
  /** By state, newest first. */
  list(states: readonly ApprovalState[], count: number): Durable<readonly Approval[]>;
  /** Known without waiting: approved ones of this agent that are not expired and have uses left. */
  usable(workspace: string | null, agent: string, now: number): readonly Approval[];
  /** Pending ones of this agent; known without waiting. */
  pending(workspace: string | null, agent: string): readonly Approval[];
  /** What was executing when we last ended becomes indeterminate, what is past its time becomes expired. */
  recover(now: number, entry: (approval: Approval) => LogEntry): Durable<readonly Approval[]>;
}
