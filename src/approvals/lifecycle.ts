// The lifecycle of an approval: pending, then approved, refused or expired; an approved one is executed, and ends.
// INVARIANT: no function here turns an approval into one that allows more than `need` people agreed to.

import type { CodedFailure } from "../core/base/result.ts";
import type { LadderStep } from "../core/ports/daemon/daemon-control.ts";
import type {
  Approval,
  ApprovalScope,
  ApprovalState,
  ApprovalStore,
  ApproverAnswer,
} from "../core/ports/stores/approval-store.ts";
import {
  answerMillisecondsMax,
  answerMillisecondsMin,
  answerUsesMax,
  approversMax,
  questionMillisecondsMax,
  reasonCharactersMax,
} from "./limits.ts";

export type LifecycleFault =
  /** Another answer came first, or the approval has ended. */
  | "not_pending"
  | "not_approved"
  | "not_executing"
  | "not_refused"
  | "expired"
  /** A plain yes where the approver has to prove presence. */
  | "presence_required"
  | "already_agreed"
  | "not_an_approver"
  | "unknown_step"
  | "bad_uses"
  | "bad_time";

export type LifecycleChange = { readonly ok: true; readonly approval: Approval } | CodedFailure<LifecycleFault>;

/** The columns a change writes: the argument of `ApprovalStore.change`. */
export type ApprovalChange = Parameters<ApprovalStore["change"]>[2];

export type NewApproval = Pick<
  Approval,
  | "id"
  | "who"
  | "tool"
  | "pin"
  | "binding"
  | "digest"
  | "generation"
  | "level"
  | "arguments"
  | "requests"
  | "asking"
  | "asked"
> & {
  /** From the agent's record; null: one approver, any person. */
  readonly approvers: { readonly need: number; readonly of: readonly string[] | null } | null;
  /** How long the question stays open. */
  readonly milliseconds: number;
};

export const EXACT: ApprovalScope = { kind: "exact" };

export function newApproval({ approvers, milliseconds, ...call }: NewApproval): Approval {
  const open = Math.min(Math.max(milliseconds, answerMillisecondsMin), questionMillisecondsMax);
  return {
    ...call,
    state: "pending",
    need: Math.min(Math.max(approvers?.need ?? 1, 1), approversMax),
    of: approvers?.of ?? null,
    expires: call.asked + open,
    scope: EXACT,
    usesLeft: 0,
    answers: [],
    reason: null,
    times: 1,
  };
}

/** One person's yes. `ladder`: the offered steps, narrowest first. */
export function agree(approval: Approval, answer: ApproverAnswer, ladder: readonly LadderStep[]): LifecycleChange {
  const wrong = openFault(approval, answer.at) ?? personFault(approval, answer) ?? reachFault(answer, ladder);
  if (wrong !== null) return wrong;
  const answers = [...approval.answers, answer];
  // Earlier answers are only recorded; the approval is usable after the last of them.
  if (answers.length < approval.need) return { ok: true, approval: { ...approval, answers } };
  const step = ladder[Math.min(...answers.map((one) => placeOf(ladder, one.step)))];
  const specs = step?.specs ?? null;
  return {
    ok: true,
    approval: {
      ...approval,
      state: "approved",
      answers,
      scope: specs === null ? EXACT : { kind: "grants", specs },
      usesLeft: Math.min(...answers.map(({ uses }) => uses)),
      expires: answer.at + Math.min(...answers.map(({ milliseconds }) => milliseconds)),
    },
  };
}

/** How many people still have to agree. */
export function answersMissing({ state, need, answers }: Approval): number {
  return state === "pending" ? Math.max(0, need - answers.length) : 0;
}

/** One no is enough. An approved approval can be revoked until it is used up. */
export function refuse(approval: Approval, reason: string): LifecycleChange {
  if (approval.state !== "pending" && approval.state !== "approved")
    return fault("not_pending", `the approval is already ${approval.state}`);
  return {
    ok: true,
    approval: { ...approval, state: "refused", usesLeft: 0, reason: reason.slice(0, reasonCharactersMax) },
  };
}

/** A refused question becomes pending again, without answers. This allows nothing by itself. */
export function reopen(approval: Approval, now: number): LifecycleChange {
  if (approval.state !== "refused") return fault("not_refused", `the approval is ${approval.state}, not refused`);
  if (!(now < approval.expires)) return fault("expired", "the approval has expired; the same call requests a new one");
  const expires = now + questionMillisecondsMax;
  return {
    ok: true,
    approval: { ...approval, state: "pending", scope: EXACT, usesLeft: 0, answers: [], reason: null, expires },
  };
}

/** The approval at this moment: past its deadline it is expired, whatever the stored state says. */
export function approvalAt(approval: Approval, now: number): Approval {
  const isOpen = approval.state === "pending" || approval.state === "approved";
  return isOpen && !(now < approval.expires) ? { ...approval, state: "expired", usesLeft: 0 } : approval;
}

/**
 * Starts one use. The last one makes it `executing`; while uses are left it stays `approved`, so that concurrent calls
 * of an agent do not ask again. Each use has its own decision and outcome in the log.
 */
export function begin(approval: Approval, now: number): LifecycleChange {
  const { state, usesLeft } = approvalAt(approval, now);
  if (state === "expired") return fault("expired", "the approval has expired");
  if (state !== "approved" || usesLeft < 1) return fault("not_approved", `it is ${state}`);
  const left = usesLeft - 1;
  return { ok: true, approval: { ...approval, state: left === 0 ? "executing" : "approved", usesLeft: left } };
}

/** How the last use ended. `indeterminate`: this process ended first, and the outcome is unknown. */
export function end(
  approval: Approval,
  how: Extract<ApprovalState, "done" | "failed" | "indeterminate">,
): LifecycleChange {
  if (approval.state !== "executing") return fault("not_executing", `it is ${approval.state}`);
  return { ok: true, approval: { ...approval, state: how } };
}

/** The columns of an approval that change. */
export function changeOf({ state, scope, usesLeft, answers, expires, reason }: Approval): ApprovalChange {
  return { state, scope, usesLeft, answers, expires, reason };
}

function openFault(approval: Approval, now: number): LifecycleChange | null {
  const { state } = approvalAt(approval, now);
  if (state === "expired") return fault("expired", "the request is no longer pending; the agent must call again");
  return state === "pending" ? null : fault("not_pending", `the approval is already ${state}`);
}

/** Presence is required where the level says so, and wherever the approver's identity matters: a plain yes has no name. */
export function needsPresence({ level, need, of }: Pick<Approval, "level" | "need" | "of">): boolean {
  return level === 2 || need > 1 || of !== null;
}

function personFault(approval: Approval, answer: ApproverAnswer): LifecycleChange | null {
  const { answers, of } = approval;
  if (answer.level < 2 && needsPresence(approval))
    return fault("presence_required", "this requires a person's name and passphrase");
  if (of !== null && !of.includes(answer.by))
    return fault("not_an_approver", `${JSON.stringify(answer.by)} is not an approver of this request`);
  if (answers.some(({ by }) => by === answer.by))
    return fault(
      "already_agreed",
      `${JSON.stringify(answer.by)} has already approved; another person must approve too`,
    );
  return null;
}

function reachFault(
  { step, uses, milliseconds }: ApproverAnswer,
  ladder: readonly LadderStep[],
): LifecycleChange | null {
  if (!ladder.some(({ name }) => name === step))
    return fault("unknown_step", `${JSON.stringify(step)} is not one of ${ladder.map(({ name }) => name).join(", ")}`);
  if (!Number.isSafeInteger(uses) || uses < 1 || uses > answerUsesMax)
    return fault("bad_uses", `an approval covers 1 to ${answerUsesMax} uses`);
  if (
    !Number.isSafeInteger(milliseconds) ||
    milliseconds < answerMillisecondsMin ||
    milliseconds > answerMillisecondsMax
  )
    return fault("bad_time", `an approval is valid for 1 second to ${answerMillisecondsMax / 3_600_000} hours`);
  return null;
}

/** A step that is no longer on the ladder counts as the narrowest. */
function placeOf(ladder: readonly LadderStep[], step: string): number {
  return Math.max(
    0,
    ladder.findIndex(({ name }) => name === step),
  );
}

function fault(code: LifecycleFault, message: string): LifecycleChange {
  return { ok: false, code, message };
}
