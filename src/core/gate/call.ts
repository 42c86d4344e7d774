// A tool call, in the order of the design: known tool, `tool.invoke`, every request it makes, and then, only if all
// are covered, approval, one durable commit, and the warrant. Any failure on the way is a denial with a code.

import type { PathSettings } from "../authority/axes/path.ts";
import type { Moment } from "../authority/compiled.ts";
import type { DenialCode } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import { copyJson } from "../base/json.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Commit, Entry } from "../ports/stores/commit.ts";
import { type Call, type CallDecision, decideCopied } from "./call-decision.ts";
import { type Caller, chargesOf } from "./decide.ts";
import type { ToolLookup } from "./known-tool.ts";
import type { Warrant } from "./warrant.ts";
import { mint } from "./warrant-mint.ts";

export interface AuthorizationDenial {
  readonly ok: false;
  readonly code: DenialCode;
  readonly request: Request | null;
  /** What waits for a person, where something does. */
  readonly approval: string | null;
  /** Why a person said no, or what is wrong with the arguments. */
  readonly reason: string | null;
  /** The entry that tells of the denial; null where it could not be written. */
  readonly receipt: string | null;
}

export type Authorization = { readonly ok: true; readonly warrant: Warrant } | AuthorizationDenial;

/** Grants with an empty account that may be passed over until one is left or none is. */
const attemptsMax = 16;

interface GatePorts {
  readonly approvals: Approvals;
  readonly commit: Commit;
}

/** Decides, asks where it must, commits, and only then mints. INVARIANT: no warrant without a receipt. */
export function authorize(
  caller: Caller,
  call: Call,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
  ports: GatePorts,
): Promise<Authorization> {
  const asked = [caller, call, tools, moment, protectedPaths, ports] as const;
  return decideAndCommit(asked, (content) => ({ ok: true, warrant: mint(content) }));
}

/** What is decided on, by what, and the way out. */
type AuthorizeArguments = Readonly<Parameters<typeof authorize>>;

/** The same for a call that is carried out elsewhere: the receipt alone, and no warrant, because nothing here acts by it. */
export function permit(
  ...asked: AuthorizeArguments
): Promise<{ readonly ok: true; readonly receipt: string } | AuthorizationDenial> {
  return decideAndCommit(asked, ({ receipt }) => ({ ok: true, receipt }));
}

async function decideAndCommit<T>(
  [caller, call, tools, moment, protectedPaths, ports]: AuthorizeArguments,
  allowed: (content: Warrant) => T,
): Promise<T | AuthorizationDenial> {
  // Read once: what is decided, asked, written and minted has one name and one agent.
  const { agent } = caller;
  const asker: Caller = {
    agent,
    authority: caller.authority,
    written: caller.written ?? null,
    revoked: caller.revoked ?? null,
    blocked: caller.blocked ?? null,
  };
  const { tool } = call;
  const copied = { tool, input: copyJson(call.input) };
  // Another call may take the last of an account between decision and commit: then the next grant is tried.
  for (let attempts = 0; attempts < attemptsMax; attempts++) {
    const decision = decideCopied(asker, copied, tools, moment, protectedPaths);
    if (decision.outcome === "deny") {
      const { code, request, reason } = decision;
      return refuse(ports, { agent, tool, ...NOTHING_COVERED }, code, request, null, reason);
    }
    const { requests, basis } = decision;
    const level = decision.outcome === "ask" ? decision.level : 0;
    const decided: DecidedFields = { agent, tool, requests, basis, level };
    let approval: string | null = null;
    if (decision.outcome === "ask") {
      const answer = await approvalFor(ports, agent, tool, decision);
      if (answer.code !== null) return refuse(ports, decided, answer.code, null, answer.approval, answer.reason);
      approval = answer.approval;
    }
    const entry: Entry = {
      agent,
      tool,
      requests,
      outcome: "allow",
      code: null,
      basis,
      charges: chargesOf(decision),
      level,
      need: null,
      approval,
      reason: null,
    };
    const written = await attempt(() => ports.commit(entry));
    if (written?.ok === true && typeof written.receipt === "string" && written.receipt !== "") {
      const { receipt } = written;
      return allowed({ agent, tool, arguments: decision.input, requests, basis, receipt });
    }
    const code = written?.ok === false ? written.code : "audit_unavailable";
    if (code === "audit_unavailable") return denied(code, null, null, null, null);
    if (code !== "budget_exhausted") return refuse(ports, decided, code, null, null, null);
  }
  return refuse(ports, { agent, tool, ...NOTHING_COVERED }, "budget_exhausted", null, null, null);
}

/** What was decided, whatever became of it then. */
type DecidedFields = Pick<Entry, "agent" | "tool" | "requests" | "basis" | "level">;

const NOTHING_COVERED: Pick<Entry, "requests" | "basis" | "level"> = { requests: [], basis: [], level: 0 };

/** A denial costs nothing. One that cannot be written is still a denial. */
async function refuse(
  ports: GatePorts,
  { agent, tool, requests, basis, level }: DecidedFields,
  code: DenialCode,
  need: Request | null,
  approval: string | null,
  reason: string | null,
): Promise<AuthorizationDenial> {
  const written = await attempt(() =>
    ports.commit({ agent, tool, requests, outcome: "deny", code, basis, charges: [], level, need, approval, reason }),
  );
  return denied(code, need, approval, reason, written?.ok === true ? written.receipt : null);
}

/** With a code if the request was not approved. */
interface ApprovalOutcome {
  readonly code: "approval_refused" | "approval_required" | "approval_unavailable" | null;
  readonly approval: string | null;
  readonly reason: string | null;
}

const UNANSWERED = { kind: "unavailable", reason: "the store of approvals did not respond" } as const;

async function approvalFor(
  ports: GatePorts,
  agent: string,
  tool: string,
  decision: Extract<CallDecision, { readonly outcome: "ask" }>,
): Promise<ApprovalOutcome> {
  const { input, requests, asking, level } = decision;
  const answer = (await attempt(() => ports.approvals({ agent, tool, input, requests, asking, level }))) ?? UNANSWERED;
  if (answer.kind === "refused")
    return { code: "approval_refused", approval: answer.approval ?? null, reason: answer.reason };
  // An approval discharges the level it was given at, and none above it.
  if (answer.kind === "approved" && !(answer.level >= level))
    return { code: "approval_required", approval: null, reason: null };
  if (answer.kind === "pending" && answer.approval)
    return { code: "approval_required", approval: answer.approval, reason: null };
  // INVARIANT: a caller that is told to wait has an approval to wait for.
  if (answer.kind !== "approved") {
    const reason = answer.kind === "unavailable" ? answer.reason : UNANSWERED.reason;
    return { code: "approval_unavailable", approval: null, reason };
  }
  return { code: null, approval: answer.approval, reason: null };
}

function denied(
  code: DenialCode,
  request: Request | null,
  approval: string | null,
  reason: string | null,
  receipt: string | null,
): AuthorizationDenial {
  return { ok: false, code, request, approval, reason, receipt };
}

/** A port that fails in any way has not answered. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch {
    return null;
  }
}
