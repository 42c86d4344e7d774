// The outcome of a call, as a log entry and as the caller's result.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { ProgramCompletion, ProgramRefusal } from "../../core/ports/daemon/daemon-calls.ts";
import type { RunDenial, RunResult } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { hintOf } from "../log/denials.ts";
import type { ExecutionResult } from "../tools/owner-tool.ts";

const DONE: Omit<Outcome, "receipt"> = { ended: "done", denials: [], enforcement: [], wallMicroseconds: 0 };
export const REFUSED: Omit<Outcome, "receipt"> = {
  ended: "refused",
  denials: [],
  enforcement: [],
  wallMicroseconds: 0,
};

/** The client cancelled while the decision was being written: it is charged, and not executed. */
export const CANCELLED: ExecutionResult = {
  ok: false,
  code: "stopped",
  message: "the client disconnected: the call was not executed",
};

export const SECRET_GIVEN: ExecutionResult = {
  ok: false,
  code: "secret_refused",
  message: "a secret is used by its handle; its value is never returned",
};

/** `denials`: denials during the call, with their entries. */
export function outcomeOf(receipt: string, carried: ExecutionResult, denials: readonly RunDenial[]): Outcome {
  const met = carried.met ?? DONE;
  return { receipt, ...met, ended: carried.ok ? met.ended : `failed ${carried.code}`, denials };
}

export function programAnswer(
  receipt: string,
  request: string,
  result: RunResult,
  {
    settled,
    denials: noted,
    id,
  }: { readonly settled: boolean; readonly denials: readonly RunDenial[]; readonly id: string },
): ProgramCompletion | ProgramRefusal {
  if (!result.ok)
    return { outcome: "refused", ...result.refused, request, need: request, ...told(id, result.refused.code) };
  // The effect happened either way; a failed log write must not look like success.
  if (!settled) {
    const code = "audit_unavailable";
    return { outcome: "refused", code, message: "", fix: null, request, need: request, ...told(receipt, code) };
  }
  const { ending, usage, enforcement, outputDropped, changes = null } = result.ran;
  const denials = noted.map((one) => ({
    ...one,
    need: one.request === "" ? null : one.request,
    hint: hintOf(one.code),
  }));
  return { outcome: "ran", receipt, request, ending, usage, denials, enforcement, outputDropped, changes };
}

function told(id: string, code: DenialCode): { readonly id: string; readonly hint: string } {
  return { id, hint: hintOf(code) };
}
