// Answers of a call as an application gets them: what was decided elsewhere in the shape of every face, and the few
// refusals that are said here because nobody could be asked.
import type { CallRefused } from "../adapters/session.ts";
import { DENIAL_CODES } from "../core/authority/decision.ts";
import type { DenialTold } from "../core/ports/daemon/daemon-calls.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";

const HINTS: Readonly<Record<string, string>> = {
  invalid_input: "The arguments do not match the input of this tool. Correct them and call it again.",
  capability_absent: "The tool does not declare this request. Its author must add it to the declaration.",
  scope_violation: "The tool's declaration does not cover this request. Stay within it.",
  revoked: "The call was cancelled, or its session or grant has ended.",
  not_available: "This is currently unavailable. Continue without it, or try again later.",
  audit_unavailable: "The audit log is unavailable, so the call was not executed. Tell the user, and retry later.",
  execution_failed: "The tool failed. Some of its effects may have happened.",
};

/** Somebody asks no more. */
export const STOPPED: CallRefused = refusedHere("revoked", "the call was stopped");

export function refusedHere(code: string, reason: string | null, id = "", need: string | null = null): CallRefused {
  return { ok: false, code, need, hint: HINTS[code] ?? "The call was refused.", id, approval: null, reason };
}

export function denialAnswer({ code, need, hint, id, approval, reason }: DenialTold): CallRefused {
  return { ok: false, code, need, hint, id, approval, reason };
}

/** A refusal is no decision: nothing was written of it. A daemon that does not answer is one that is not there. */
export function refusalAnswer({ code, message, fix }: Refusal): CallRefused {
  const known = DENIAL_CODES.some((one) => one === code) ? code : (MEANINGS[code] ?? code);
  const hint = HINTS[known] ?? "The call was refused.";
  return { ...refusedHere(known, message), hint: fix === null ? hint : `${hint} ${fix}` };
}

const MEANINGS: Readonly<Record<string, string>> = { no_answer: "not_available", unknown_session: "not_available" };

/** What an application is told by an exception: that there is no session, or that one could not be narrowed. */
export class AmbitRefused extends Error {
  readonly code: string;
  /** A line to act on, where there is one. */
  readonly fix: string | null;

  constructor({ code, message, fix }: Refusal) {
    super(fix === null ? message : `${message} (${fix})`);
    this.name = "AmbitRefused";
    this.code = code;
    this.fix = fix;
  }
}
