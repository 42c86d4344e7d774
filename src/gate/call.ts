// A tool call, in the order of the design: known tool, `tool.invoke`, every request it makes, and then, only if all
// are covered, approval, one durable commit, and the warrant. Any failure on the way is a denial with a code.
import { verbEntry } from "../authority/catalog.ts";
import type { Authority, Chain } from "../authority/chain.ts";
import { type Moment, WHOLE_LINK } from "../authority/compiled.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Grant, Level } from "../authority/grant.ts";
import { copyJson, isJsonObject, type Json, type JsonObject } from "../authority/json.ts";
import { parseTool } from "../authority/name.ts";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { refuse as refuseInput } from "../authority/result.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Charge, Commit, Entry } from "../ports/commit.ts";
import type { Derived, KnownTool, ToolLookup } from "../tool/known-tool.ts";
import { mint } from "../warrant/mint.ts";
import type { Warrant } from "../warrant/warrant.ts";
import { type Caller, decide } from "./decide.ts";

export interface Call {
  readonly tool: string;
  /** Whatever the caller handed over; copied and frozen before anything is decided. */
  readonly input: unknown;
}

/** What was decided on, with the grants it rests on. */
interface Covered {
  readonly input: JsonObject;
  readonly requests: readonly Request[];
  readonly basis: readonly Basis[];
  readonly authority: Authority;
}

export type CallDecision =
  | (Covered & { readonly outcome: "allow" })
  | (Covered & { readonly outcome: "ask"; readonly level: Exclude<Level, 0>; readonly asking: readonly Request[] })
  | {
      readonly outcome: "deny";
      readonly code: DenialCode;
      readonly request: Request | null;
      /** What is wrong with the arguments, where that is why. */
      readonly reason: string | null;
    };

const reasonCharactersMax = 300;

const INVOKE = verbEntry("tool.invoke");

/** The pure part: what would be decided, without asking anybody or writing anything. */
export function decideCall(
  caller: Caller,
  call: Call,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: Ground["protectedPaths"],
): CallDecision {
  return decideCopied(caller, { tool: call.tool, input: copyJson(call.input) }, tools, moment, protectedPaths);
}

/** INVARIANT: the input is a copy that nobody else holds, and frozen. */
function decideCopied(
  caller: Caller,
  { tool: toolName, input }: { readonly tool: string; readonly input: Json | undefined },
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: Ground["protectedPaths"],
): CallDecision {
  const tool = lookUp(tools, toolName);
  const name = parseTool(toolName);
  if (tool === null || !name.ok || INVOKE === null) return deny("unknown_tool", null);
  if (!isJsonObject(input)) return deny("invalid_input", null, "the arguments are one plain object");
  const { requirement } = tool;
  // A tool's requirement is about what it does; whether it may be called is the agent's to hold.
  const authority: Authority =
    requirement === null ? caller.authority : caller.authority.map((chain): Chain => [...chain, requirement]);
  const requests: Request[] = [];
  const basis: Basis[] = [];
  const asking: Request[] = [];
  let level: Level = 0;
  const judge = (request: Request, held: Authority): CallDecision | null => {
    const { decision } = decide({ agent: caller.agent, authority: held }, request, moment, protectedPaths);
    if (decision.outcome === "deny") return deny(decision.code, request);
    if (decision.outcome === "ask") asking.push(request);
    if (decision.outcome === "ask" && decision.level > level) level = decision.level;
    requests.push(request);
    basis.push(decision.by);
    return null;
  };
  const invoke: Request = { verb: INVOKE, values: [name.value, { kind: "json", value: input }] };
  const refused = judge(invoke, caller.authority);
  if (refused !== null) return refused;
  const derived = derive(tool, input);
  if (!derived.ok) {
    const code = derived.code === "unsupported" ? "unsupported_command" : "invalid_input";
    return deny(code, null, derived.message.slice(0, reasonCharactersMax));
  }
  for (const request of derived.value) {
    const denied = judge(request, authority);
    if (denied !== null) return denied;
  }
  const covered: Covered = { input, requests, basis, authority };
  return level === 0 ? { ...covered, outcome: "allow" } : { ...covered, outcome: "ask", level, asking };
}

/** A registry that fails knows no tool. */
function lookUp(tools: ToolLookup, name: string): KnownTool | null {
  try {
    return tools(name);
  } catch {
    return null;
  }
}

/** What the call asks for, or why the tool does not accept the input; one that fails over it does not. */
function derive(tool: KnownTool, input: JsonObject): Derived {
  try {
    return tool.requests(input);
  } catch {
    return refuseInput("bad_value", "the tool fails over the arguments");
  }
}

function deny(code: DenialCode, request: Request | null, reason: string | null = null): CallDecision {
  return { outcome: "deny", code, request, reason };
}

export type Authorization =
  | { readonly ok: true; readonly warrant: Warrant }
  | {
      readonly ok: false;
      readonly code: DenialCode;
      readonly request: Request | null;
      /** What waits for a person, where something does. */
      readonly approval: string | null;
      /** Why a person said no, or what is wrong with the arguments. */
      readonly reason: string | null;
      /** The entry that tells of the denial; null where it could not be written. */
      readonly receipt: string | null;
    };

/** Grants with an empty account that may be passed over until one is left or none is. */
const attemptsMax = 16;

/** Decides, asks where it must, commits, and only then mints. INVARIANT: no warrant without a receipt. */
export async function authorize(
  caller: Caller,
  call: Call,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: Ground["protectedPaths"],
  ports: { readonly approvals: Approvals; readonly commit: Commit },
): Promise<Authorization> {
  // Read once: what is decided, asked, written and minted has one name and one agent.
  const { agent } = caller;
  const { tool } = call;
  const input = copyJson(call.input);
  let answer: Step = { kind: "again", code: "budget_exhausted" };
  // Another call may take the last of an account between decision and commit: then the next grant is tried.
  for (let attempts = 0; attempts < attemptsMax && answer.kind === "again"; attempts++)
    answer = await oneStep(
      { agent, authority: caller.authority },
      { tool, input },
      tools,
      moment,
      protectedPaths,
      ports,
    );
  if (answer.kind === "done") return answer.authorization;
  return denied(answer.code, null, null, null, null);
}

type Step =
  | { readonly kind: "done"; readonly authorization: Authorization }
  | { readonly kind: "again"; readonly code: DenialCode };

async function oneStep(
  caller: Caller,
  { tool, input }: { readonly tool: string; readonly input: Json | undefined },
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: Ground["protectedPaths"],
  ports: { readonly approvals: Approvals; readonly commit: Commit },
): Promise<Step> {
  const { agent } = caller;
  const decision = decideCopied(caller, { tool, input }, tools, moment, protectedPaths);
  const requests = decision.outcome === "deny" ? [] : decision.requests;
  const basis = decision.outcome === "deny" ? [] : decision.basis;
  const level = decision.outcome === "ask" ? decision.level : 0;
  const write = (entry: Pick<Entry, "outcome" | "code" | "charges" | "need" | "approval" | "reason">) =>
    attempt(() => ports.commit({ agent, tool, requests, basis, level, ...entry }));
  const refuse = async (
    code: DenialCode,
    need: Request | null,
    approval: string | null,
    reason: string | null = null,
  ): Promise<Step> => {
    // A denial costs nothing. One that cannot be written is still a denial.
    const written = await write({ outcome: "deny", code, charges: [], need, approval, reason });
    const receipt = written?.ok === true ? written.receipt : null;
    return { kind: "done", authorization: denied(code, need, approval, reason, receipt) };
  };
  if (decision.outcome === "deny") return refuse(decision.code, decision.request, null, decision.reason);
  let approval: string | null = null;
  if (decision.outcome === "ask") {
    const { asking } = decision;
    const question = { agent, tool, input: decision.input, requests, asking, level: decision.level };
    const answer = await attempt(() => ports.approvals(question));
    if (answer?.kind === "refused") return refuse("approval_refused", null, answer.approval ?? null, answer.reason);
    // An approval discharges the level it was given at, and none above it.
    if (answer?.kind === "approved" && !(answer.level >= decision.level))
      return refuse("approval_required", null, null);
    if (answer?.kind !== "approved") return refuse("approval_required", null, answer?.approval ?? null);
    approval = answer.approval;
  }
  const allowed = {
    outcome: "allow",
    code: null,
    charges: chargesOf(decision),
    need: null,
    approval,
    reason: null,
  } as const;
  const written = await write(allowed);
  if (written?.ok === true && typeof written.receipt === "string" && written.receipt !== "") {
    const { receipt } = written;
    const warrant = mint({ agent, tool, arguments: decision.input, requests, basis, receipt });
    return { kind: "done", authorization: { ok: true, warrant } };
  }
  const code = written?.ok === false ? written.code : "audit_unavailable";
  if (code === "budget_exhausted") return { kind: "again", code };
  return code === "audit_unavailable"
    ? { kind: "done", authorization: denied(code, null, null, null, null) }
    : refuse(code, null, null);
}

function denied(
  code: DenialCode,
  request: Request | null,
  approval: string | null,
  reason: string | null,
  receipt: string | null,
): Authorization {
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

/** Every limited account on the way: of each deciding grant, and of each link it stands in. Once per call. */
export function chargesOf(decision: {
  readonly basis: readonly Basis[];
  readonly authority: Authority;
}): readonly Charge[] {
  const charges = new Map<string, Charge>();
  const add = (link: string, grant: number): void => {
    charges.set(`${link}\0${grant}`, { link, grant });
  };
  for (const { chain, grants } of decision.basis) {
    for (const [place, index] of grants.entries()) {
      const link = (decision.authority[chain] as Chain)[place]?.link;
      if (link === undefined) continue;
      if (link.calls !== null) add(link.id, WHOLE_LINK);
      const { calls, rate } = (link.grants[index] as Grant).conditions;
      if (calls !== null || rate !== null) add(link.id, index);
    }
  }
  return [...charges.values()];
}
