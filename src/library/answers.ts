// Answers of a call as an application gets them: the daemon's decisions in the common shape, and the few refusals that
// are made here because the daemon cannot be reached.
import type { CallRefused } from "../adapters/session.ts";
import { DENIAL_CODES } from "../core/authority/decision.ts";
import type { DenialView } from "../core/ports/daemon/daemon-calls.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";

const HINTS: Readonly<Record<string, string>> = {
  invalid_input: "The arguments are not what this tool takes.",
  capability_absent: "The tool does not declare this. Whoever wrote it has to.",
  scope_violation: "What the tool declares does not reach this far. Stay inside it.",
  revoked: "The call was stopped, or what it rested on has ended.",
  not_available: "This is not available now.",
  audit_unavailable: "What is decided cannot be written down now, so nothing is done.",
  execution_failed: "The tool failed. Nothing is known of how far it came.",
};

/** The caller cancelled the call. */
export const STOPPED: CallRefused = refusedHere("revoked", "the call was stopped");

export function refusedHere(code: string, reason: string | null, id = "", need: string | null = null): CallRefused {
  return { ok: false, code, need, hint: HINTS[code] ?? "It was refused.", id, approval: null, reason };
}

export function denialAnswer({ code, need, hint, id, approval, reason }: DenialView): CallRefused {
  return { ok: false, code, need, hint, id, approval, reason };
}

/** A refusal is not a decision: no entry was written. A daemon that does not answer counts as unavailable. */
export function refusalAnswer({ code, message, fix }: Refusal): CallRefused {
  const known = DENIAL_CODES.some((one) => one === code) ? code : (MEANINGS[code] ?? code);
  const hint = HINTS[known] ?? "It was refused.";
  return { ...refusedHere(known, message), hint: fix === null ? hint : `${hint} ${fix}` };
}

const MEANINGS: Readonly<Record<string, string>> = { no_answer: "not_available", unknown_session: "not_available" };

/** Thrown to an application: there is no session, or one could not be narrowed. */
export class AmbitRefused extends Error {
  readonly code: string;
  /** What to do about it, if known. */
  readonly fix: string | null;

  constructor({ code, message, fix }: Refusal) {
    super(fix === null ? message : `${message} (${fix})`);
    this.name = "AmbitRefused";
    this.code = code;
    this.fix = fix;
  }
}
