// The pure part of a tool call: what would be decided, without asking a person and without writing.
import { parseTool } from "../authority/axes/name.ts";
import type { PathSettings } from "../authority/axes/path.ts";
import { verbEntry } from "../authority/catalog.ts";
import { type Authority, narrowAuthority } from "../authority/chain.ts";
import type { Moment } from "../authority/compiled.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Level } from "../authority/grant.ts";
import type { Request } from "../authority/request.ts";
import { copyJson, isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { refuse } from "../base/result.ts";
import { type Caller, decide, type Verdict } from "./decide.ts";
import type { KnownTool, RequestsResult, ToolLookup } from "./known-tool.ts";
import { behindDenial } from "./untrusted.ts";

export interface Call {
  readonly tool: string;
  /** Whatever the caller handed over; copied and frozen before anything is decided. */
  readonly input: unknown;
}

/** What was decided on, with the grants it rests on. */
interface CoveredCall {
  readonly input: JsonObject;
  readonly requests: readonly Request[];
  readonly basis: readonly Basis[];
  readonly authority: Authority;
}

export type CallDecision =
  | (CoveredCall & { readonly outcome: "allow" })
  | (CoveredCall & { readonly outcome: "ask"; readonly level: Exclude<Level, 0>; readonly asking: readonly Request[] })
  | {
      readonly outcome: "deny";
      readonly code: DenialCode;
      readonly request: Request | null;
      /** What is wrong with the arguments, where that is why. */
      readonly reason: string | null;
    };

const reasonCharactersMax = 300;

const INVOKE = verbEntry("tool.invoke");

export function decideCall(
  caller: Caller,
  call: Call,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
): CallDecision {
  return decideCopied(caller, { tool: call.tool, input: copyJson(call.input) }, tools, moment, protectedPaths);
}

/** INVARIANT: the input is a private, frozen copy. */
export function decideCopied(
  caller: Caller,
  call: CallCopy,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
): CallDecision {
  const blocked = caller.blocked ?? null;
  if (blocked !== null) return deny(blocked.code, null, blocked.reason);
  const decision = decideBy(caller, call, tools, moment, protectedPaths);
  if (decision.outcome !== "deny") return decision;
  const behind = behindDenial(
    caller,
    decision.code,
    (authority) => decideBy({ agent: caller.agent, authority }, call, tools, moment, protectedPaths).outcome !== "deny",
  );
  return behind === null ? decision : deny(behind.code, decision.request, behind.reason);
}

interface CallCopy {
  readonly tool: string;
  readonly input: Json | undefined;
}

function decideBy(
  caller: Caller,
  { tool: toolName, input }: CallCopy,
  tools: ToolLookup,
  moment: Moment,
  protectedPaths: PathSettings["protectedPaths"],
): CallDecision {
  const tool = lookUp(tools, toolName);
  const name = parseTool(toolName);
  if (tool === null || !name.ok || INVOKE === null) return deny("unknown_tool", null);
  const { requirement } = tool;
  // A tool's requirement is about what it does; whether it may be called is the agent's to hold.
  const authority = narrowAuthority(caller.authority, requirement === null ? [] : [requirement]);
  const requests: Request[] = [];
  const basis: Basis[] = [];
  const asking: Request[] = [];
  let level: Level = 0;
  const judge = (request: Request, held: Authority): CallDecision | null => {
    const { decision, unenforceable } = decide(
      { agent: caller.agent, authority: held },
      request,
      moment,
      protectedPaths,
    );
    if (decision.outcome === "deny") return deny(decision.code, request, reasonOf(unenforceable));
    const needed: Level = decision.outcome === "ask" ? decision.level : request.isTrigger === true ? 1 : 0;
    if (needed > 0) asking.push(request);
    if (needed > level) level = needed;
    requests.push(request);
    basis.push(decision.by);
    return null;
  };
  // INVARIANT: whether the tool may be called at all is decided before anything is said about the arguments.
  const isObject = isJsonObject(input);
  const invoke: Request = { verb: INVOKE, values: [name.value, { kind: "json", value: isObject ? input : {} }] };
  const refused = judge(invoke, caller.authority);
  if (refused !== null) return refused;
  if (!isObject) return deny("invalid_input", null, "the arguments must be one plain object");
  const derived = derive(tool, input);
  if (!derived.ok) {
    const code = derived.code === "unsupported" ? "unsupported_command" : "invalid_input";
    return deny(code, null, derived.message.slice(0, reasonCharactersMax));
  }
  for (const request of derived.value) {
    const denied = judge(request, authority);
    if (denied !== null) return denied;
  }
  return level === 0
    ? { outcome: "allow", input, requests, basis, authority }
    : { outcome: "ask", input, requests, basis, authority, level, asking };
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
function derive(tool: KnownTool, input: JsonObject): RequestsResult {
  try {
    return tool.requests(input);
  } catch {
    return refuse("bad_value", "the tool threw an error while reading the arguments");
  }
}

function reasonOf(refusal: Verdict["unenforceable"]): string | null {
  if (refusal === null) return null;
  return `${refusal.message}${refusal.fix === null ? "" : `; ${refusal.fix}`}`;
}

function deny(code: DenialCode, request: Request | null, reason: string | null = null): CallDecision {
  return { outcome: "deny", code, request, reason };
}
