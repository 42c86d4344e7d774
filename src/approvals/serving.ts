// Whether an existing answer covers the current call.
import type { Level } from "../core/authority/grant.ts";
import type { Request } from "../core/authority/request.ts";
import { member } from "../core/base/json.ts";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { approvalAt } from "./lifecycle.ts";

/** The call that is being decided. */
export interface CurrentCall {
  readonly workspace: string | null;
  readonly agent: string;
  readonly tool: string;
  readonly pin: string | null;
  readonly digest: string;
  readonly generation: number;
  readonly level: Exclude<Level, 0>;
  /** The profile of the client that makes the call; null: none is shown. */
  readonly profile: string | null;
  /** The requests that require approval. */
  readonly asking: readonly Request[];
}

/** Whether grants, as compact specs, cover a request. */
export type SpecsCover = (specs: readonly string[], request: Request) => boolean;

/** Whether it can still be answered or used. */
export function isLive(approval: Approval, now: number): boolean {
  const { state, usesLeft } = approvalAt(approval, now);
  return state === "pending" || (state === "approved" && usesLeft > 0);
}

/** The level of all answers together: the weakest of them. */
export function answeredLevel({ answers }: Approval): Level {
  return answers.length === 0 ? 0 : answers.every(({ level }) => level === 2) ? 2 : 1;
}

export function serves(approval: Approval, call: CurrentCall, now: number, covers: SpecsCover): boolean {
  const { state, usesLeft, answers, need, scope, who } = approval;
  if (state !== "approved" || !isLive(approval, now) || usesLeft < 1 || answers.length < need) return false;
  if (who.workspace !== call.workspace || who.agent !== call.agent) return false;
  if (approval.tool !== call.tool || approval.pin !== call.pin || approval.generation !== call.generation) return false;
  if (answeredLevel(approval) < call.level || call.asking.length === 0) return false;
  switch (scope.kind) {
    case "exact":
      return approval.digest === call.digest;
    case "grants":
      return isForClient(approval, call) && call.asking.every((request) => covers(scope.specs, request));
    default:
      return scope satisfies never;
  }
}

/** An approval of a model is for the client that was shown with it, however wide it is. */
function isForClient({ arguments: shown }: Approval, { asking, profile }: CurrentCall): boolean {
  if (!asking.some(({ verb }) => verb.verb === "model.use")) return true;
  return (member(shown, "profile") ?? null) === profile;
}
