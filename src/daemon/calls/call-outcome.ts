// The outcome of a call, as a log entry and as the caller's result.
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { onAbort } from "../../core/base/abort.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, refuse } from "../../core/base/result.ts";
import type { AuthorizationDenial } from "../../core/gate/call.ts";
import { type CallDecision, decideCall } from "../../core/gate/call-decision.ts";
import type { KnownTool, ToolLookup } from "../../core/gate/known-tool.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type {
  CallCompletion,
  DenialView,
  ProgramCompletion,
  ProgramRefusal,
} from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { RunDenial, RunResult, Sinks } from "../../core/ports/process.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import { outcomeOfRun } from "../../sandbox/plan/run-outcome.ts";
import type { Contexts } from "../contexts/contexts.ts";
import { type CallDenial, denialIn, withEntries } from "../log/call-report.ts";
import { denialView, hintOf, needOf } from "../log/denials.ts";
import type { DaemonParts, StreamingRedactor } from "../parts.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { DaemonTool, ExecutionResult } from "../tools/daemon-tool.ts";
import { reachedBy } from "../tools/daemon-tools.ts";
import type { CallPorts } from "./call-ports.ts";
import { callerOf, type GatedCall } from "./gatekeeper.ts";
import type { Holding } from "./holding.ts";

const DONE: Omit<Outcome, "receipt"> = { ended: "done", denials: [], enforcement: [], wallMicroseconds: 0 };
export const REFUSED: Omit<Outcome, "receipt"> = {
  ended: "refused",
  denials: [],
  enforcement: [],
  wallMicroseconds: 0,
};

/** The client cancelled while the decision was being written: it is charged, and not executed. */
export const CANCELLED: ExecutionResult = {
  ok: false,
  code: "stopped",
  message: "the client disconnected: the call was not executed",
};

export const SECRET_GIVEN: ExecutionResult = {
  ok: false,
  code: "secret_refused",
  message: "the arguments contain the value of a secret; write {{secret:name}} in its place",
};

const UNRECORDED = "the program ran, but its outcome could not be written to the log";

/** `denials`: denials during the call, with their entries. */
export function outcomeOf(receipt: string, execution: ExecutionResult, denials: readonly RunDenial[]): Outcome {
  const met = execution.met ?? DONE;
  return { receipt, ...met, ended: execution.ok ? met.ended : `failed ${execution.code}`, denials };
}

/** What a face needs to know of the result's form. */
export function formOf(carried: ExecutionResult): Pick<CallCompletion, "isServerResult" | "isInputRequired"> {
  if (carried.ok && carried.isInputRequired === true) return { isInputRequired: true };
  return carried.ok && carried.isServerResult === true ? { isServerResult: true } : {};
}

/** INVARIANT: a permitted call has an outcome, also if our code throws; its approval is not left in use. */
export async function orFailed<T>(
  ports: Pick<CallPorts, "settleLater">,
  { receipt }: Pick<Warrant, "receipt">,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    ports.settleLater({ receipt, ...REFUSED, ended: "failed internal" });
    throw error;
  }
}

/** Logs the outcome of a program, and answers with it. */
export async function settledRun(
  asked: GatedCall & { readonly owner: DaemonTool | null },
  receipt: string,
  request: Request,
  result: RunResult,
): Promise<Answer<ProgramCompletion | ProgramRefusal>> {
  const met = result.ok ? outcomeOfRun(result.ran) : REFUSED;
  const text = requestText(request);
  const own = result.ok ? [] : [{ code: result.refused.code, request: text, times: 1 }];
  const reason = result.ok ? null : result.refused.message;
  const denials = withEntries(asked, receipt, [...met.denials, ...own], reason);
  const settled = await asked.ports.settle({ receipt, ...met, denials });
  const id = denials.at(-1)?.id ?? receipt;
  return { ok: true, value: programAnswer(receipt, text, result, { settled, denials, id }) };
}

function programAnswer(
  receipt: string,
  request: string,
  result: RunResult,
  {
    settled,
    denials: noted,
    id,
  }: { readonly settled: boolean; readonly denials: readonly RunDenial[]; readonly id: string },
): ProgramCompletion | ProgramRefusal {
  if (!result.ok)
    return { outcome: "refused", ...result.refused, request, need: request, ...told(id, result.refused.code) };
  // The effect happened either way; a failed log write must not look like success.
  if (!settled) {
    const code = "audit_unavailable";
    return { outcome: "refused", code, message: UNRECORDED, fix: null, request, need: request, ...told(receipt, code) };
  }
  const { ending, usage, enforcement, outputDropped, changes = null, hint } = result.ran;
  const more = hint === undefined ? {} : { hint };
  const denials = noted.map((one) => ({
    ...one,
    need: one.request === "" ? null : one.request,
    hint: hintOf(one.code),
  }));
  return { outcome: "ran", receipt, request, ending, usage, denials, enforcement, outputDropped, changes, ...more };
}

function told(id: string, code: DenialCode): { readonly id: string; readonly hint: string } {
  return { id, hint: hintOf(code) };
}

/** The denial of a call as its caller reads it. */
export function denialOf(
  { session, holding, owner, tool, input, ports, lookup }: GatedCall & { readonly owner: DaemonTool | null },
  gate: AuthorizationDenial,
  contexts: Pick<Contexts, "denied">,
): Answer<DenialView> {
  owner?.denied?.(input, session);
  const known = lookup(tool);
  const requests = known?.requests(input);
  if (known !== null && requests?.ok === true) contexts.denied(session, known.name, requests.value);
  // INVARIANT: a third-party tool that this session can never call answers as one that does not exist.
  const isThirdParty = owner?.foreign !== undefined || owner?.isOfServer === true;
  const isHidden = owner !== null && isThirdParty && HIDING.has(gate.code);
  if (isHidden && !reachedBy(holding.authority, ports.moment())(owner)) {
    const { receipt } = gate;
    return { ok: true, value: denialView(session, { ...UNKNOWN_TOOL, receipt }) };
  }
  const request = needOf(session.facts.name.agent, holding, gate.code, gate.request);
  return { ok: true, value: denialView(session, { ...gate, request }) };
}

const HIDING: ReadonlySet<string> = new Set(["capability_absent", "scope_violation", "invalid_input"]);
const UNKNOWN_TOOL = { code: "unknown_tool", request: null, approval: null, reason: null } as const;

export type PreviewCall = Pick<GatedCall, "session" | "holding" | "tool" | "input" | "ports" | "reservation">;

/** Previews the decision, without an approval request or a log entry. */
export function previewCall(
  { session, holding, tool, input, ports, reservation = null }: PreviewCall,
  lookup: ToolLookup,
): CallDecision {
  return decideCall(
    callerOf(session, holding),
    { tool, input },
    lookup,
    ports.moment(reservation?.least),
    holding.reading.pathSettings.protectedPaths,
  );
}

/** The same tool, with approval required for requests that change a trigger path. */
export function markTriggers(lookup: ToolLookup, isTrigger: (request: Request) => boolean): ToolLookup {
  return (name) => {
    const tool = lookup(name);
    if (tool === null) return null;
    const requests: KnownTool["requests"] = (input) => {
      const derived = tool.requests(input);
      if (!derived.ok) return derived;
      return done(derived.value.map((one) => (isTrigger(one) ? { ...one, isTrigger: true as const } : one)));
    };
    return { ...tool, requests };
  };
}

/** Data stored or sent for an agent must not contain a secret value. */
export function holdsSecret({ redacting, canonical }: DaemonParts, input: JsonObject): boolean {
  if (redacting.known === null) return false;
  return canonical(redacting.json(input)) !== canonical(input);
}

/** The same tool, with requests that the caller needs besides. INVARIANT: they only add. */
export function withRequests(texts: readonly string[], { reading }: Holding, lookup: ToolLookup): ToolLookup {
  if (texts.length === 0) return lookup;
  return (name) => {
    const tool = lookup(name);
    if (tool === null) return null;
    const requests: KnownTool["requests"] = (input) => {
      const own = tool.requests(input);
      const read = texts.map((text) => readRequestText(text, reading));
      const more = read.flatMap((one) => (one.ok ? [one.value] : []));
      if (!own.ok) return own;
      return more.length === texts.length
        ? done([...own.value, ...more])
        : refuse("bad_value", "a request of the tool cannot be parsed");
    };
    return { ...tool, requests };
  };
}

/** A client tool with the requests that the client declares, which can only add requests. */
export function clientToolLookup(
  texts: readonly string[],
  { reading }: Holding,
  requirement: CompiledLink | null,
): ToolLookup {
  return (name) => ({
    name,
    requirement,
    requests: () => {
      const read = texts.map((text) => readRequestText(text, reading));
      const requests = read.flatMap((one) => (one.ok ? [one.value] : []));
      return requests.length === texts.length
        ? done(requests)
        : refuse("bad_value", "a request of the tool cannot be parsed");
    },
  });
}

/** A call that was decided and then refused is reported as a denial, and logged as one. */
export function refusedDuringCall(
  asked: GatedCall & { readonly owner: DaemonTool | null },
  receipt: string,
  met: {
    readonly execution: Extract<ExecutionResult, { readonly ok: false }>;
    readonly refused: CallDenial;
    readonly denials: readonly RunDenial[];
    readonly reason: string;
  },
): Answer<DenialView> {
  const { session, holding, ports, owner } = asked;
  const { execution, refused, denials, reason } = met;
  // The tool passes on a denial of its context, which is logged already.
  const known = refused.request === null ? denials.find(({ code }) => code === refused.code) : undefined;
  const [own] =
    known === undefined ? withEntries(asked, receipt, [denialIn(refused)], reason, refused.target) : [known];
  const all = own === undefined || own === known ? denials : [...denials, own];
  const read = known === undefined || known.request === "" ? null : readRequestText(known.request, holding.reading);
  const found = refused.request ?? (read?.ok === true ? read.value : null);
  const request: Request | null =
    found !== null && owner?.isConfigured === true ? { ...found, isConfigured: true } : found;
  const id = own?.id ?? receipt;
  const value = denialView(session, { code: refused.code, request, approval: null, reason, receipt: id });
  ports.settleLater(outcomeOf(receipt, execution, all));
  return { ok: true, value };
}

type Channel = 1 | 2;

/** Output of programs, sent to the caller as it is written. Backpressure: a slow reader slows the programs down. */
export class StreamedOutput {
  readonly sinks: Sinks;
  readonly #exchange: Exchange;
  readonly #ends: (() => void)[] = [];
  #sent: Promise<void> = Promise.resolve();

  /**
   * Each program's output is redacted already; `redacting` also finds a secret that two programs wrote together, and is null for one
   * program.
   */
  constructor(exchange: Exchange, redacting: StreamingRedactor | null) {
    this.#exchange = exchange;
    const sink = (channel: Channel): Sinks["output"] => {
      const stream = redacting?.stream() ?? null;
      if (stream === null) return (bytes) => this.#send(channel, bytes);
      this.#ends.push(() => void this.#send(channel, stream.end()));
      return (bytes) => this.#send(channel, stream.write(bytes));
    };
    this.sinks = { output: sink(1), errors: sink(2) };
  }

  /** All of it is sent before the response. A stopped call does not wait for a reader that is gone. */
  async end(signal: AbortSignal): Promise<void> {
    for (const end of this.#ends) end();
    await Promise.race([this.#sent, new Promise<void>((over) => void onAbort(signal, over))]);
  }

  #send(channel: Channel, bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) this.#sent = this.#exchange.send(channel, bytes);
    return this.#sent;
  }
}
