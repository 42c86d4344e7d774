// A denial as the caller sees it: code, needed request, and hint. It reveals nothing about other rules.

import type { DenialCode } from "../../core/authority/decision.ts";
import { delegationFault } from "../../core/authority/delegation.ts";
import type { Request } from "../../core/authority/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { DenialView } from "../../core/ports/daemon/daemon-calls.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { Observation } from "../../core/ports/stores/memory-store.ts";
import type { Holding } from "../calls/holding.ts";
import type { Session } from "../session.ts";

const HINTS: Readonly<Record<DenialCode, string>> = {
  invalid_input: "The arguments do not match the input of this tool. Correct them and call it again.",
  unknown_tool: "No tool of this name is available to you. Use one from the list of tools.",
  capability_absent: "You have no grant for this. Continue without it, or tell the user which access you need and why.",
  scope_violation: "No grant covers this request. Stay within your grants, or tell the user which access you need.",
  self_modification:
    "Agents cannot change their own grants or policy files. Do not retry; tell the user what you need.",
  exceeds_grantor_authority: "You can delegate only grants that you hold and may pass on. Ask for less.",
  expired: "Your grant for this has expired. Do not retry; tell the user that it needs renewing.",
  revoked: "Your grant for this was revoked. Do not retry; tell the user.",
  generation_stale:
    "Your authority belongs to an older generation and has ended. Do not retry; tell the user that it must be granted again.",
  approval_required:
    "This call needs approval by a person. Continue with other work; call again with the same arguments once it is approved.",
  approval_refused: "A person refused this call. Do not retry it; continue without it or ask the user.",
  budget_exhausted: "The budget of your grant is used up. Do not retry; tell the user if you need more.",
  address_refused:
    "The address is not allowed: it is of a private network, or of a model that is reached through the relay alone. Do not retry; use another host.",
  secret_refused:
    "A secret cannot be used, or would be overwritten, in this way: see `reason`. Use a tool and host that it is bound to, " +
    "leave redaction marks out of what you write, or tell the user.",
  sandbox_unavailable:
    "No sandbox is available on this machine, so the program was not run. Do not retry; tell the user to run `ambit doctor`.",
  not_available: "This is currently unavailable. Continue without it, or try again later.",
  audit_unavailable: "The audit log is unavailable, so the call was not executed. Tell the user, and retry later.",
  pin_changed:
    "The tool, or the package of its server, differs from what was pinned, so it was not run. Do not retry; tell the user to run `ambit mcp show` for this server.",
  unsupported_command:
    "This command form is not supported because it cannot be checked before it runs. Use plain commands with literal arguments.",
  untrusted_policy:
    "This project's policy has no effect until it is trusted. Ask the user to review it and run `ambit trust`.",
  draft_conflict:
    "The file was changed in the project in the meantime. Your version was kept as a draft and not applied. Read the file again and repeat the change.",
  not_landed:
    "Your changes were kept as a draft and not applied to the project. Tell the user, who can run `ambit changes list`.",
  untrusted_content:
    "This session has read untrusted content, and your grant covers only sessions that have not. " +
    "Do not retry in this session; tell the user that it needs a new session.",
  unknown_user: "The user of this session has no user record, and one is required. Do not retry; tell the user.",
  approval_unavailable:
    "This call needs approval, but no approval could be requested: see `reason`. Do not retry; tell the user.",
  frozen: "The user has frozen all agents. Do not retry; stop, and tell the user that `ambit thaw` ends the freeze.",
  not_found: "There is no such file or folder. Check the path, and list the folder if you may.",
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
  const stop = times >= equalMax ? " You have made this exact request before. Stop repeating it." : "";
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
  return taintedBy === null ? null : `this session has read untrusted content since ${taintedBy}`;
}

const CONFIGURED = "the user's configuration sets the request of this tool; the log shows it";
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

/** The uncovered part, as exactly as it is known: the request itself if nothing more exact is known. */
export function needOf(
  agent: string,
  { authority, reading }: Pick<Holding, "authority" | "reading">,
  code: DenialCode | null,
  request: Request | null,
): Request | null {
  if (code !== "exceeds_grantor_authority" || request?.delegation === undefined) return request;
  const { target, proposed } = request.delegation;
  const fault = delegationFault({ id: agent, authority }, target, proposed, reading.pathSettings.protectedPaths);
  if (fault?.code !== "exceeds_grantor_authority" || fault.containment.kind !== "exceeds") return request;
  return fault.containment.request;
}
