// One call of a tool that the application passed in code: decided and logged by the daemon, run here on its receipt, in
// a context whose every use goes back to the daemon.
import type { CallAnswer, CallRefused } from "../adapters/session.ts";
import { parseToolPattern } from "../core/authority/axes/name.ts";
import type { PathSettings } from "../core/authority/axes/path.ts";
import type { Chain } from "../core/authority/chain.ts";
import { compile, type Moment } from "../core/authority/compiled.ts";
import { ALWAYS } from "../core/authority/link.ts";
import type { Request } from "../core/authority/request.ts";
import type { JsonObject } from "../core/base/json.ts";
import { authorize } from "../core/gate/call.ts";
import { isWarrant, type Warrant } from "../core/gate/warrant.ts";
import { grantOf, sequences } from "../core/notation/grants.ts";
import { requestText } from "../core/notation/request/request-printer.ts";
import type { CallCompletion, CallMessages } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import type { Commit } from "../core/ports/stores/commit.ts";
import { contextSender } from "../daemon/contexts/context-sender.ts";
import type { OpenContext } from "../runtime/context/context.ts";
import { remoteContext, type SendUse } from "../runtime/context/remote.ts";
import type { RegisteredTool } from "../runtime/tool/registered.ts";
import { runToolIn } from "../runtime/tool/run.ts";
import { denialAnswer, refusalAnswer, refusedHere, STOPPED } from "./answers.ts";

export interface OwnCall {
  readonly calls: MessageClient<CallMessages>;
  readonly session: string;
  readonly agent: string;
  readonly tool: RegisteredTool;
  readonly input: JsonObject;
  readonly waitMilliseconds: number;
  readonly signal: AbortSignal;
  readonly protectedPaths: PathSettings["protectedPaths"];
  now(): number;
}

/** INVARIANT: the tool runs for a warrant, a warrant is minted on a receipt, and a receipt comes from the daemon alone. */
export async function callOwn(call: OwnCall): Promise<CallAnswer> {
  const { tool, agent, input, signal, protectedPaths } = call;
  let refused: CallRefused | null = null;
  const commit: Commit = async (entry) => {
    // The first request is the tool itself, which every call needs. A call denied here is sent too: the daemon reaches
    // the same decision from the declaration, and logs it.
    const asked = entry.outcome === "allow" ? entry.requests.slice(1) : entry.need === null ? null : [entry.need];
    const answer = asked === null ? null : await commitAsked(call, asked);
    if (entry.outcome === "allow" && answer?.ok === true) return answer;
    if (answer?.ok === true) void settle(call, answer.receipt, "refused", 0, false);
    else if (answer !== null && (entry.outcome === "allow" || answer.id !== "")) refused = answer;
    return { ok: false, code: entry.outcome === "allow" ? "revoked" : "audit_unavailable" };
  };
  const moment: Moment = { now: call.now(), clean: true, generation: 0, revoked: null, exhausted: null };
  const gate = await authorize(
    { agent, authority: [declaredOf(tool)] },
    { tool: tool.name, input },
    () => tool,
    moment,
    protectedPaths,
    { approvals: async () => ({ kind: "refused", reason: "" }), commit },
  );
  if (signal.aborted && refused !== null) return STOPPED;
  if (refused !== null) return refused;
  if (!gate.ok) {
    const need = gate.request === null ? null : requestText(gate.request);
    return refusedHere(gate.code, gate.reason, "", need);
  }
  return run(call, gate.warrant);
}

/**
 * The tool's declaration, plus the right to call it: the local gate admits nothing else. The daemon checks the agent's
 * grants.
 */
function declaredOf({ name, declared }: RegisteredTool): Chain {
  const pattern = parseToolPattern(`tool:${name}`);
  const span = { source: `tool:${name}`, start: 0, end: 0 };
  const invoke = pattern.ok ? [grantOf("tool.invoke", { tool: sequences([pattern.value]) }, { span })] : [];
  const grants = [...invoke, ...declared.grants];
  return [compile({ id: "local", role: "own", issuer: "local", holder: name, grants, validity: ALWAYS, calls: null })];
}

async function commitAsked(
  { calls, session, tool, input, waitMilliseconds, signal }: OwnCall,
  requests: readonly Request[],
): Promise<{ readonly ok: true; readonly receipt: string } | CallRefused> {
  if (signal.aborted) return STOPPED;
  const answer = await calls.ask(
    "call.commit",
    {
      session,
      tool: tool.name,
      input,
      requests: requests.map(requestText),
      declaration: tool.tool.capabilities ?? {},
      waitMilliseconds,
    },
    { signal },
  );
  if (!answer.ok) return refusalAnswer(answer);
  const told = answer.value;
  return told.outcome === "denied" ? denialAnswer(told) : { ok: true, receipt: told.receipt };
}

/** Instruments that bring in content written by others. */
const READING: readonly string[] = ["net", "files", "process", "storage", "memory", "observe"];

async function run(call: OwnCall, warrant: Warrant): Promise<CallAnswer> {
  const { calls, session, tool, signal, now } = call;
  const { receipt } = warrant;
  const began = now();
  let isUntrusted = false;
  const ask = contextSender(calls, session, receipt);
  const send: SendUse = (use) => {
    if (READING.includes(String(use["instrument"]))) isUntrusted = true;
    return ask(use);
  };
  const outcome = await runToolIn(tool, warrant, {
    // The daemon has refused the call if something is missing; it knows the backends.
    availability: { ok: true },
    signal,
    open: (by) => opened(by, send),
  });
  const ended = outcome.ok ? "done" : `failed ${outcome.code}`;
  const milliseconds = Math.max(0, Math.round(now() - began));
  const settled = settle(call, receipt, ended, milliseconds, isUntrusted);
  if (!outcome.ok) return refusedHere(outcome.code, outcome.message, receipt);
  const told = await settled;
  return { ok: true, value: outcome.value, receipt, ...(told.ok ? { enforcement: told.value.enforcement } : {}) };
}

/** Sent at once: the daemon receives it before any later message, including the end of the session. */
function settle(
  { calls, session }: OwnCall,
  receipt: string,
  ended: string,
  milliseconds: number,
  isUntrusted: boolean,
): Promise<Answer<Pick<CallCompletion, "enforcement">>> {
  return calls.ask("call.settle", { session, receipt, ended, milliseconds, isUntrusted });
}

function opened(warrant: Warrant, send: SendUse): OpenContext {
  if (!isWarrant(warrant)) throw new TypeError("a context needs a warrant");
  return remoteContext(send);
}
