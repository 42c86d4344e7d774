// Answers of a call as an application gets them: the daemon's decisions in the common shape, and the few refusals that
// are made here because the daemon cannot be reached.
import type { CallCode, CallRefused, FailureCode } from "../adapters/session.ts";
import { DENIAL_CODES } from "../core/authority/decision.ts";
import type { DenialView } from "../core/ports/daemon/daemon-calls.ts";
import { NO_DAEMON, type Refusal } from "../core/ports/daemon/exchange.ts";

const HINTS: Readonly<Record<string, string>> = {
  invalid_input: "The arguments do not match the input of this tool. Correct them and call it again.",
  capability_absent: "The tool does not declare this request. Its author must add it to the declaration.",
  scope_violation: "The tool's declaration does not cover this request. Stay within it.",
  revoked: "The call was cancelled, or its session or grant has ended.",
  not_found: "What the call names does not exist. Check the name, and call again.",
  not_available: "This is currently unavailable. Continue without it, or try again later.",
  no_daemon: "No daemon serves this session, so the call was not executed. Tell the user to run `ambit daemon status`.",
  unknown_session: "The session has ended, so the call was not executed. Open a new session.",
  audit_unavailable: "The audit log is unavailable, so the call was not executed. Tell the user, and retry later.",
  execution_failed: "The tool failed. Some of its effects may have happened.",
  deadline_exceeded: "The call took too long and was stopped. Some of its effects may have happened.",
  version_conflict: "It was changed in the meantime. Read it again, and repeat the change.",
  quota: "The storage limit is reached. Delete something first.",
};

/** Codes that are not a decision: the tool failed, or what it needed was not there. */
const FAILURES: ReadonlySet<string> = new Set([
  "execution_failed",
  "not_available",
  "not_found",
  "audit_unavailable",
  NO_DAEMON,
  "unknown_session",
  "deadline_exceeded",
  "version_conflict",
  "quota",
]);

/** The caller cancelled the call. */
export const STOPPED: CallRefused = refusedHere("revoked", "the call was stopped");

export function refusedHere(code: CallCode, reason: string | null, id = "", need: string | null = null): CallRefused {
  const hint = HINTS[code] ?? "The call was refused.";
  return { ok: false, kind: kindOf(code), code, need, hint, id, approval: null, reason };
}

export function denialAnswer({ code, need, hint, id, approval, reason }: DenialView): CallRefused {
  return { ok: false, kind: "denied", code, need, hint, id, approval, reason };
}

function kindOf(code: CallCode): CallRefused["kind"] {
  return FAILURES.has(code) ? "failed" : "denied";
}

/** A refusal is not a decision: no entry was written. A daemon that does not answer counts as unavailable. */
export function refusalAnswer({ code, message, fix }: Refusal): CallRefused {
  const known = callCodeOf(code === "no_answer" ? NO_DAEMON : code);
  const refused = refusedHere(known ?? "not_available", known === null ? `${code}: ${message}` : message);
  return fix === null ? refused : { ...refused, hint: `${refused.hint} ${fix}` };
}

const FAILURE_CODES: Readonly<Record<FailureCode, true>> = {
  execution_failed: true,
  version_conflict: true,
  quota: true,
  no_daemon: true,
  unknown_session: true,
  deadline_exceeded: true,
};

/** Null for a code that an application cannot know. */
function callCodeOf(code: string): CallCode | null {
  const denial = DENIAL_CODES.find((one) => one === code) ?? null;
  return denial ?? (Object.hasOwn(FAILURE_CODES, code) ? (code as FailureCode) : null);
}

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
