// Limits the pending questions of one agent: people cannot review more.
import type { CodedFailure } from "../core/base/result.ts";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { pendingPerAgentMax } from "./limits.ts";

export type MayAsk = { readonly ok: true } | CodedFailure<"too_many_pending">;

/** `pending`: the agent's pending approvals. Repeating one of them is not a new question. */
export function mayAsk(pending: readonly Approval[], digest: string): MayAsk {
  if (pending.length < pendingPerAgentMax || pending.some((one) => one.digest === digest)) return { ok: true };
  return {
    ok: false,
    code: "too_many_pending",
    message: `${pending.length} approvals of this agent are already pending; at most ${pendingPerAgentMax} are allowed`,
  };
}
