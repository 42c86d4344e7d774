// Questions nobody can read are no questions: an agent has only so many open at a time.
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { pendingPerAgentMax } from "./limits.ts";

export type MayAsk =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "too_many_pending"; readonly message: string };

/** `pending`: what the agent has waiting. To ask the same again is no new question. */
export function mayAsk(pending: readonly Approval[], digest: string): MayAsk {
  if (pending.length < pendingPerAgentMax || pending.some((one) => one.digest === digest)) return { ok: true };
  return {
    ok: false,
    code: "too_many_pending",
    message: `${pending.length} questions of this agent wait for a person already; no more than ${pendingPerAgentMax} may`,
  };
}
