// A use while a program runs: a secret that git asks for, a request to a model. Decided, charged and logged before it happens.
import type { Authority } from "../../core/authority/chain.ts";
import type { Basis, DenialCode } from "../../core/authority/decision.ts";
import type { Level } from "../../core/authority/grant.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { chargesOf } from "../../core/gate/decide.ts";
import type { Cost, SecretUse } from "../../core/ports/stores/ledger.ts";
import type { Session } from "../session.ts";
import type { CallPorts } from "./call-ports.ts";

export interface ProgramUse {
  readonly tool: string;
  readonly request: Request;
  readonly authority: Authority;
  /** The entry of the call that runs the program. */
  readonly receipt: string;
  readonly isCharged: boolean;
  /** Absent: a use without a cost. */
  readonly cost?: CostRange;
  /** What a person is shown where approval is required. Absent: the use is denied then. */
  readonly question?: JsonObject;
  /** Used in the commit of the decision. Null: it is not kept, and the use is denied without an approval. Absent: none is needed. */
  readonly credential?: UseCredential | null;
}

export interface UseCredential {
  /** Waits for the key of the secrets. Null: they are locked. */
  use(): Promise<SecretUse | null>;
}

/** Costs that are not known before: between the least that makes sense and what is left. */
export interface CostRange {
  readonly least: Cost;
  /** What to reserve; null: too little is left. */
  within(left: { readonly tokens: number; readonly money: number }): Cost | null;
}

export type UseDecision =
  /** `reserved`: null where nothing is. */
  | { readonly ok: true; readonly id: string; readonly reserved: Cost | null; readonly isLimited: boolean }
  | { readonly ok: false; readonly id: string; readonly code: DenialCode; readonly reason: string | null };

/** Other uses may take the last of an account between decision and commit. */
const attemptsMax = 16;

/** What the program has read is unknown: no grant with `clean` covers it. */
export async function commitUse(session: Session, ports: CallPorts, use: ProgramUse): Promise<UseDecision> {
  const { request, authority, isCharged, cost } = use;
  for (let attempts = 0; attempts < attemptsMax; attempts++) {
    const decision = judge(authority, request, { ...ports.moment(cost?.least), clean: false });
    if (decision.outcome === "deny") return refuse(session, ports, use, { ...NOTHING, code: decision.code });
    if (use.credential === null) return refuse(session, ports, use, { ...NOTHING, code: "secret_refused" });
    const basis = [decision.by];
    const level = decision.outcome === "ask" ? decision.level : 0;
    const answer = level === 0 ? NO_APPROVAL : await approved(session, ports, use, level);
    if (answer.code !== null) return refuse(session, ports, use, { ...answer, basis, level, code: answer.code });
    // Before the accounts are read: nothing is awaited between them and the commit.
    const secret = use.credential === undefined ? undefined : await use.credential.use();
    if (secret === null) return refuse(session, ports, use, { ...NOTHING, code: "secret_refused" });
    const charges = isCharged ? chargesOf({ basis, authority }) : [];
    const left = ports.costLeft(charges);
    if (left === null) continue;
    const reserved = cost?.within(left) ?? null;
    if (cost !== undefined && reserved === null) continue;
    const written = await ports.commit({
      ...{ agent: session.facts.name.agent, tool: use.tool, requests: [request], basis, outcome: "allow", code: null },
      ...{ charges, level, need: null, approval: answer.approval, reason: null, call: use.receipt },
      ...(reserved === null ? {} : { reserved }),
      ...(secret === undefined ? {} : { secret }),
    });
    if (written.ok)
      return { ok: true, id: written.receipt, reserved, isLimited: Number.isFinite(Math.min(left.tokens, left.money)) };
    if (written.code === "secret_refused") return refuse(session, ports, use, { ...NOTHING, code: "secret_refused" });
    if (written.code !== "budget_exhausted") return { ok: false, id: use.receipt, code: written.code, reason: null };
  }
  return refuse(session, ports, use, { ...NOTHING, code: "budget_exhausted" });
}

interface UseApproval {
  readonly code: DenialCode | null;
  readonly approval: string | null;
  readonly reason: string | null;
}

const NO_APPROVAL: UseApproval = { code: null, approval: null, reason: null };

async function approved(
  session: Session,
  ports: CallPorts,
  { tool, request, question }: ProgramUse,
  level: Exclude<Level, 0>,
): Promise<UseApproval> {
  const required: UseApproval = { code: "approval_required", approval: null, reason: null };
  if (question === undefined) return required;
  const { agent } = session.facts.name;
  const answer = await ports.approvals({ agent, tool, input: question, requests: [request], asking: [request], level });
  switch (answer.kind) {
    case "approved":
      return answer.level >= level ? { code: null, approval: answer.approval, reason: null } : required;
    case "refused":
      return { code: "approval_refused", approval: answer.approval ?? null, reason: answer.reason };
    case "pending":
      return { ...required, approval: answer.approval };
    case "unavailable":
      return { code: "approval_unavailable", approval: null, reason: answer.reason };
    default:
      return answer satisfies never;
  }
}

interface Refusal extends UseApproval {
  readonly code: DenialCode;
  readonly basis: readonly Basis[];
  readonly level: Level;
}

const NOTHING = { basis: [], level: 0, approval: null, reason: null } as const;

async function refuse(
  session: Session,
  ports: CallPorts,
  { tool, request, receipt }: ProgramUse,
  { code, basis, level, approval, reason }: Refusal,
): Promise<UseDecision> {
  const written = await ports.commit({
    ...{ agent: session.facts.name.agent, tool, requests: [request], basis, outcome: "deny", code },
    ...{ charges: [], level, need: request, approval, reason, call: receipt },
  });
  return { ok: false, id: written.ok ? written.receipt : receipt, code: written.ok ? code : written.code, reason };
}
