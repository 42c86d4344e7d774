// A tool call, in the order of the design: known tool, `tool.invoke`, every request it makes, and then, only if all
// are covered, approval, one durable commit, and the warrant. Any failure on the way is a denial with a code.
import { verbEntry } from "../authority/catalog.ts";
import type { Authority, Chain } from "../authority/chain.ts";
import { type Moment, WHOLE_LINK } from "../authority/compiled.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Grant, Level } from "../authority/grant.ts";
import { copyJson, isJsonObject, type JsonObject } from "../authority/json.ts";
import { parseTool } from "../authority/name.ts";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Charge, Commit, CommitResult } from "../ports/commit.ts";
import type { KnownTool, ToolLookup } from "../tool/known-tool.ts";
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
  | (Covered & { readonly outcome: "ask"; readonly level: Exclude<Level, 0> })
  | { readonly outcome: "deny"; readonly code: DenialCode; readonly request: Request | null };

const INVOKE = verbEntry("tool.invoke");

/** The pure part: what would be decided, without asking anybody or writing anything. */
export function decideCall(
  caller: Caller,
  call: Call,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: Ground["protectedPaths"],
): CallDecision {
  const { tool: toolName } = call;
  const tool = lookUp(tools, toolName);
  const name = parseTool(toolName);
  if (tool === null || !name.ok || INVOKE === null) return deny("unknown_tool", null);
  const input = copyJson(call.input);
  if (!isJsonObject(input)) return deny("invalid_input", null);
  const { requirement } = tool;
  // A tool's requirement is about what it does; whether it may be called is the agent's to hold.
  const authority: Authority =
    requirement === null ? caller.authority : caller.authority.map((chain): Chain => [...chain, requirement]);
  const requests: Request[] = [];
  const basis: Basis[] = [];
  let level: Level = 0;
  const judge = (request: Request, held: Authority): CallDecision | null => {
    const { decision } = decide({ agent: caller.agent, authority: held }, request, moment, protectedPaths);
    if (decision.outcome === "deny") return deny(decision.code, request);
    if (decision.outcome === "ask" && decision.level > level) level = decision.level;
    requests.push(request);
    basis.push(decision.by);
    return null;
  };
  const invoke: Request = { verb: INVOKE, values: [name.value, { kind: "json", value: input }] };
  const refused = judge(invoke, caller.authority);
  if (refused !== null) return refused;
  for (const request of derive(tool, input) ?? [null]) {
    if (request === null) return deny("invalid_input", null);
    const denied = judge(request, authority);
    if (denied !== null) return denied;
  }
  const covered: Covered = { input, requests, basis, authority };
  return level === 0 ? { ...covered, outcome: "allow" } : { ...covered, outcome: "ask", level };
}

/** A registry that fails knows no tool. */
function lookUp(tools: ToolLookup, name: string): KnownTool | null {
  try {
    return tools(name);
  } catch {
    return null;
  }
}

/** What the call asks for; null when the tool does not accept the input, or fails over it. */
function derive(tool: KnownTool, input: JsonObject): readonly Request[] | null {
  try {
    const derived = tool.requests(input);
    return derived.ok ? derived.value : null;
  } catch {
    return null;
  }
}

function deny(code: DenialCode, request: Request | null): CallDecision {
  return { outcome: "deny", code, request };
}

export type Authorization =
  | { readonly ok: true; readonly warrant: Warrant }
  | {
      readonly ok: false;
      readonly code: DenialCode;
      readonly request: Request | null;
      readonly approval: string | null;
    };

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
  const { tool, input } = call;
  const decision = decideCall(caller, { tool, input }, tools, moment, protectedPaths);
  const requests = decision.outcome === "deny" ? [] : decision.requests;
  const basis = decision.outcome === "deny" ? [] : decision.basis;
  const write = (
    outcome: "allow" | "deny",
    code: DenialCode | null,
    charges: readonly Charge[],
  ): Promise<CommitResult | null> =>
    attempt(() => ports.commit({ agent, tool, requests, outcome, code, basis, charges }));
  const refuse = async (code: DenialCode, request: Request | null, approval: string | null): Promise<Authorization> => {
    // A denial costs nothing. One that cannot be written is still a denial.
    await write("deny", code, []);
    return { ok: false, code, request, approval };
  };
  if (decision.outcome === "deny") return refuse(decision.code, decision.request, null);
  if (decision.outcome === "ask") {
    const answer = await attempt(() => ports.approvals({ agent, tool, requests, level: decision.level }));
    if (answer?.kind === "refused") return refuse("approval_refused", null, null);
    // An approval discharges the level it was given at, and none above it.
    if (answer?.kind === "approved" && !(answer.level >= decision.level))
      return refuse("approval_required", null, null);
    if (answer?.kind !== "approved") return refuse("approval_required", null, answer?.approval ?? null);
  }
  const written = await write("allow", null, chargesOf(decision));
  if (written?.ok === true && (typeof written.receipt !== "string" || written.receipt === ""))
    return { ok: false, code: "audit_unavailable", request: null, approval: null };
  if (written?.ok !== true)
    return { ok: false, code: written?.code ?? "audit_unavailable", request: null, approval: null };
  return {
    ok: true,
    warrant: mint({ agent, tool, arguments: decision.input, requests, basis, receipt: written.receipt }),
  };
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
function chargesOf(decision: Exclude<CallDecision, { outcome: "deny" }>): readonly Charge[] {
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
