// The outcome of a call, as a log entry and as the caller's result.

import type { DenialCode } from "../../core/authority/decision.ts";
import type { Denied } from "../../core/gate/call.ts";
import type { DenialView, ProgramCompletion, ProgramRefusal } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { RunDenial, RunResult } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { denialView, hintOf } from "../log/denials.ts";
import type { ExecutionResult, OwnerTool } from "../tools/owner-tool.ts";
import { reachedBy } from "../tools/owner-tools.ts";
import { needOf } from "./counterexample.ts";
import type { GatedCall } from "./gatekeeper.ts";

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
  const { ending, usage, enforcement, outputDropped, changes = null, hint } = result.ran;
  const more = hint === undefined ? {} : { hint };
  const denials = noted.map((one) => ({
    ...one,
    need: one.request === "" ? null : one.request,
    hint: hintOf(one.code),
  }));
  return { outcome: "ran", receipt, request, ending, usage, denials, enforcement, outputDropped, changes, ...more };
}

function told(id: string, code: DenialCode): { readonly id: string; readonly hint: string } {
  return { id, hint: hintOf(code) };
}

/** The denial of a call as its caller reads it. */
export function denialOf(
  { session, holding, owner, input, ports }: GatedCall & { readonly owner: OwnerTool | null },
  gate: Denied,
): Answer<DenialView> {
  owner?.denied?.(input, session);
  // INVARIANT: a third-party tool that this session can never call answers as one that does not exist.
  const isHidden = owner?.foreign !== undefined && HIDING.has(gate.code);
  if (isHidden && !reachedBy(holding.authority, ports.moment())(owner)) {
    const { receipt } = gate;
    return { ok: true, value: denialView(session, { ...UNKNOWN_TOOL, receipt }) };
  }
  const request = needOf(session.facts.name.agent, holding, gate.code, gate.request);
  return { ok: true, value: denialView(session, { ...gate, request }) };
}

const HIDING: ReadonlySet<string> = new Set(["capability_absent", "scope_violation", "invalid_input"]);
const UNKNOWN_TOOL = { code: "unknown_tool", request: null, approval: null, reason: null } as const;
