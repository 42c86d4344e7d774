// A denial as the caller sees it: code, needed request, and hint. It reveals nothing about other rules.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { DenialView } from "../../core/ports/daemon/daemon-calls.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { Observation } from "../../core/ports/stores/memory-store.ts";
import type { Session } from "../session.ts";

const HINTS: Readonly<Record<DenialCode, string>> = {
  invalid_input: "The arguments are not what this tool takes.",
  unknown_tool: "There is no such tool for you.",
  capability_absent: "You do not hold this. Do without it, or tell the person what you need it for.",
  scope_violation: "What you hold does not reach this far. Stay inside it, or tell the person what you need.",
  self_modification: "Nobody changes what it holds itself.",
  exceeds_grantor_authority: "You can pass on only what you may pass on yourself.",
  expired: "What you held has ended.",
  revoked: "What you held was taken back.",
  generation_stale: "What you held was renewed since; ask again.",
  approval_required: "A person has to approve this. Go on with something else; asking again after approval succeeds.",
  approval_refused: "A person said no.",
  budget_exhausted: "What you may use of this is used up.",
  address_refused: "The name leads to an address that is not reachable for you.",
  secret_refused: "This secret is not for this tool or this host.",
  sandbox_unavailable: "It cannot be run confined here, so it is not run.",
  not_available: "This is not available now.",
  audit_unavailable: "What is decided cannot be written down now, so nothing is done.",
  pin_changed: "This is not what was approved before.",
  unsupported_command: "This kind of command is not carried out. Use a plainer one.",
  untrusted_policy:
    "The project's rules do not count until a person has read them and runs `ambit trust`. Tell the person.",
  draft_conflict:
    "The file was changed in the project meanwhile. Your version was kept as a draft and not applied. Read the file again and repeat the change.",
  not_landed:
    "Your changes were kept as a draft and not applied to the project. Tell the user, who can run `ambit changes list`.",
  untrusted_content:
    "This session has read content that nobody vouches for, and what you hold for this is for sessions that have not. " +
    "Do not retry it here; tell the person that it needs a new session.",
  unknown_user:
    "The user of this session has no record any more, or none where users have to have one. Tell the person.",
  approval_unavailable: "A person would have to approve this, and none was asked: the reason says why.",
};

/** The hint of a denial, for the denied caller. */
export function hintOf(code: DenialCode): string {
  return HINTS[code];
}

/** After that many equal denials in a row the hint says to stop. */
const equalMax = 3;

export function denialView(
  session: Session,
  facts: {
    readonly code: DenialCode;
    readonly request: Request | null;
    readonly approval: string | null;
    readonly reason: string | null;
    readonly receipt: string | null;
  },
): DenialView {
  const { code, request, approval, reason, receipt } = facts;
  const isConfigured = request?.isConfigured === true;
  const need = request === null || isConfigured ? null : requestText(withoutFound(request));
  const times = session.countDenial(`${code} ${need ?? ""} ${approval ?? ""} ${reason ?? ""}`);
  const stop = times >= equalMax ? " You have asked for exactly this before; do not ask again." : "";
  return {
    outcome: "denied",
    id: receipt ?? "",
    code,
    need,
    hint: `${HINTS[code]}${stop}`,
    approval,
    reason: reason ?? (isConfigured ? CONFIGURED : code === "untrusted_content" ? taintOf(session) : null),
  };
}

/** Untrusted data that a session read. */
export function taintOf({ taintedBy }: Session): string | null {
  return taintedBy === null ? null : `this session is not clean since ${taintedBy}`;
}

const CONFIGURED = "what this tool needs is set by the user; a person finds it in the log";
/** A record's class is file content: without read access it is not revealed, nor whether the record exists. */
function withoutFound(request: Request): Request {
  const { verb, values } = request;
  const isFound = verb.verb.startsWith("records.") && verb.verb !== "records.create";
  return isFound ? { ...request, values: [undefined, ...values.slice(1)] } : request;
}

/** Lets later turns read the denial. The text is ambit's own; only the request in it is untrusted. */
export function denialObservation(session: Session, entry: LogEntry, id: string, isConfigured: boolean): Observation {
  const { name, id: opened } = session.facts;
  const requests = entry.more["requests"];
  const isTold = Array.isArray(requests) && !isConfigured;
  const told = isTold ? requests.map((one) => withoutClass(String(one))) : [];
  const asked = told.join("; ").slice(0, 2000);
  const text = `denied ${entry.code ?? ""}: ${entry.tool ?? ""} ${asked} (${entry.id})`;
  return { id, name, session: opened, at: entry.at, text, tags: ["denial"], isClean: session.isClean };
}

function withoutClass(request: string): string {
  return /^records\.(?!create )/.test(request) ? request.replace(/ class=.*$/s, "") : request;
}
