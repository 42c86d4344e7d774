// Answers of a call as an application gets them: what was decided elsewhere in the shape of every face, and the few
// refusals that are said here because nobody could be asked.
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

/** Somebody asks no more. */
export const STOPPED: CallRefused = refusedHere("revoked", "the call was stopped");

export function refusedHere(code: string, reason: string | null, id = "", need: string | null = null): CallRefused {
  return { ok: false, code, need, hint: HINTS[code] ?? "It was refused.", id, approval: null, reason };
}

export function denialAnswer({ code, need, hint, id, approval, reason }: DenialView): CallRefused {
  return { ok: false, code, need, hint, id, approval, reason };
}

/** A refusal is no decision: nothing was written of it. A daemon that does not answer is one that is not there. */
export function refusalAnswer({ code, message, fix }: Refusal): CallRefused {
  const known = DENIAL_CODES.some((one) => one === code) ? code : (MEANINGS[code] ?? code);
  const hint = HINTS[known] ?? "It was refused.";
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
