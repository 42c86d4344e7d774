// Calls of a session: decided and recorded first, then executed by the daemon, run in a sandbox, or permitted to the client.
import { type Authority, narrowAuthority } from "../../core/authority/chain.ts";
import type { Request } from "../../core/authority/request.ts";
import { numberOr, objectIn, textIn } from "../../core/base/fields.ts";
import type { Json } from "../../core/base/json.ts";
import type { Refusal as Unread } from "../../core/base/result.ts";
import type { ToolLookup } from "../../core/gate/known-tool.ts";
import type { Warrant } from "../../core/gate/warrant.ts";
import type {
  CallCompletion,
  CallMessages,
  CallPermit,
  DenialView,
  ProgramCompletion,
  ProgramRefusal,
} from "../../core/ports/daemon/daemon-calls.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { availabilityOf, missingText } from "../../runtime/tool/availability.ts";
import { parseToolName } from "../../runtime/tool/tool-name.ts";
import { NO_USAGE } from "../../sandbox/plan/sandboxes.ts";
import { answerUse } from "../contexts/context-answer.ts";
import type { CallContext, Contexts } from "../contexts/contexts.ts";
import { LongUses } from "../contexts/long-uses.ts";
import { enforcementOf, refusedIn, withDenials, withEntries } from "../log/call-report.ts";
import type { DaemonParts, ProgramContext, ProgramRun } from "../parts.ts";
import { clientIn } from "../programs/client-profile.ts";
import { terminalOf } from "../programs/terminal.ts";
import type { Exchange } from "../rpc/serving.ts";
import { NO_SESSION, type Session, type Sessions } from "../session.ts";
import type { DaemonTool, ExecutionResult } from "../tools/daemon-tool.ts";
import type { DaemonTools } from "../tools/daemon-tools.ts";
import { callClient, resumedCall } from "./call-client.ts";
import { ExchangeWait, folderNames, type ParsedCall, parseCall, waitMillisecondsMax } from "./call-input.ts";
import {
  CANCELLED,
  clientToolLookup,
  denialOf,
  formOf,
  holdsSecret,
  markTriggers,
  orFailed,
  outcomeOf,
  type PreviewCall,
  previewCall,
  REFUSED,
  refusedDuringCall,
  SECRET_GIVEN,
  StreamedOutput,
  settledRun,
  withRequests,
} from "./call-outcome.ts";
import type { GatedCall, Gatekeeper } from "./gatekeeper.ts";
import { programUses } from "./model-use.ts";
import { type ClientDeclaration, OpenCalls, parseDeclaration, TOO_MANY_OPEN } from "./open-calls.ts";
import { Reservation } from "./reservation.ts";
import { doorOf } from "./session-door.ts";

/** An incoming call, with everything its decision needs. */
interface IncomingCall extends GatedCall {
  /** The tool that executes it; null for a client tool. */
  readonly owner: DaemonTool | null;
  /** The declaration of a client tool; null if it has none, and therefore no context. */
  readonly declaration: ClientDeclaration | null;
}

export class Calls {
  readonly #parts: DaemonParts;
  readonly #gatekeeper: Gatekeeper;
  readonly #sessions: Sessions;
  readonly #tools: DaemonTools;
  readonly #contexts: Contexts;
  /** Permitted calls whose outcome is not known yet. */
  readonly #open: OpenCalls = new OpenCalls();
  readonly #longUses: LongUses = new LongUses();

  constructor(parts: DaemonParts, gatekeeper: Gatekeeper, sessions: Sessions, tools: DaemonTools, contexts: Contexts) {
    this.#parts = parts;
    this.#gatekeeper = gatekeeper;
    this.#sessions = sessions;
    this.#tools = tools;
    this.#contexts = contexts;
  }

  session({ value, connected }: Exchange): Session | null {
    return this.#sessions.get(textIn(value, "session") ?? "", connected);
  }

  async commit(exchange: Exchange): Promise<Answer<CallPermit | DenialView>> {
    const found = this.#incomingCall(exchange);
    const read = found instanceof Promise ? await found : found;
    if (!read.ok) return read;
    const { value: asked } = read;
    const { session, ports, declaration } = asked;
    const missing = declaration === null ? null : this.#missing(asked, declaration);
    if (missing !== null) return refusal("not_available", missing);
    const place = this.#open.reserve(session);
    if (place === null) return TOO_MANY_OPEN;
    try {
      // A call without a context executes nothing here, so it needs no warrant.
      const gate = await (declaration === null ? this.#gatekeeper.permit(asked) : this.#gatekeeper.authorize(asked));
      if (!gate.ok) return denialOf(asked, gate, this.#contexts);
      const warrant = "warrant" in gate ? gate.warrant : null;
      const receipt = "warrant" in gate ? gate.warrant.receipt : gate.receipt;
      const context = declaration && warrant ? () => this.#context(asked, declaration, warrant) : null;
      place.keep(receipt, { ports, context, requests: warrant?.requests ?? [] });
      return { ok: true, value: { outcome: "allowed", receipt, left: session.left } };
    } finally {
      place.leave();
    }
  }

  /** The outcome of a permitted call; accepted once. The response acknowledges receipt, not that it is on disk. */
  async settle(exchange: Exchange): Promise<Answer<Pick<CallCompletion, "enforcement">>> {
    const [session, { value }] = [this.session(exchange), exchange];
    const receipt = textIn(value, "receipt", 128);
    const ended = textIn(value, "ended", 256);
    const milliseconds = numberOr(value, "milliseconds", 0, 0, Number.MAX_SAFE_INTEGER);
    if (session === null) return NO_SESSION;
    if (receipt === null || ended === null || milliseconds === null)
      return refusal(
        "invalid_input",
        "an outcome needs `receipt` and `ended`, which are strings, and whole `milliseconds`",
      );
    const call = this.#open.take(session, receipt);
    if (call === null) return refusal("invalid_input", "no call of this session has this receipt");
    if (value["isUntrusted"] === true) session.taint(`result of a call (${receipt})`);
    const wallMicroseconds = milliseconds * 1000;
    const denials = call.opened?.denials() ?? [];
    const enforcement = enforcementOf(call.requests, call.opened?.enforcement() ?? []);
    call.ports.settleLater({ receipt, ended, denials, enforcement, wallMicroseconds });
    return { ok: true, value: { enforcement } };
  }

  /** One use of an instrument, for a tool that runs in the client process. */
  async use(exchange: Exchange): Promise<Answer<{ readonly answer: Json; readonly bytes?: number }>> {
    const session = this.session(exchange);
    const receipt = textIn(exchange.value, "receipt", 128);
    if (session === null) return NO_SESSION;
    if (receipt === null) return refusal("invalid_input", "a use needs the `receipt` of its call");
    return answerUse(exchange, this.#open.context(session, receipt), this.#longUses.begin(session));
  }

  /** Declared backends and secrets that are missing, checked before anything is charged; null if all are available. */
  #missing(asked: IncomingCall, { needs }: ClientDeclaration): string | null {
    // A session that may not call the tool does not learn what is available.
    if (previewCall(asked, asked.lookup).outcome === "deny") return null;
    const availability = availabilityOf(needs, this.#contexts.backends(asked.tool.replace(/^tool:/, "")));
    return availability.ok ? null : missingText(availability);
  }

  #context(asked: IncomingCall, { requirement, store }: ClientDeclaration, warrant: Warrant): CallContext {
    const { session } = asked;
    const programContext = this.#programContext(asked, warrant.receipt);
    return this.#contexts.open({ session, warrant, requirement, store, isForeign: false, programContext });
  }

  async execute(exchange: Exchange): Promise<Answer<CallCompletion | DenialView>> {
    const { value, connected } = exchange;
    const found = this.#incomingCall(exchange, this.#sessions.callable(textIn(value, "session") ?? "", connected));
    const read = found instanceof Promise ? await found : found;
    if (!read.ok) return read;
    const { value: asked } = read;
    const gate = await this.#gatekeeper.authorize(asked);
    if (!gate.ok) return denialOf(asked, gate, this.#contexts);
    const { warrant } = gate;
    return orFailed(asked.ports, warrant, () => this.#execute(exchange, asked, warrant));
  }

  async #execute(
    exchange: Exchange,
    asked: IncomingCall,
    warrant: Warrant,
  ): Promise<Answer<CallCompletion | DenialView>> {
    const { session, tool, owner, ports } = asked;
    const { receipt } = warrant;
    const programContext = this.#programContext(asked, receipt);
    const { signal } = exchange;
    const streamed = exchange.value["isStreamed"] === true ? new StreamedOutput(exchange, this.#parts.redacting) : null;
    const execution: ExecutionResult = signal.aborted
      ? CANCELLED
      : owner === null
        ? { ok: false, code: "not_available", message: `${tool} is not executed here` }
        : holdsSecret(this.#parts, warrant.arguments)
          ? SECRET_GIVEN
          : await owner.execute({
              ...{ session, warrant, signal, programContext },
              input: warrant.arguments,
              reading: asked.holding.reading,
              client: callClient(exchange) ?? null,
              reservation: asked.reservation ?? null,
              output: streamed?.sinks ?? null,
              context: (options) =>
                this.#contexts.open({ ...options, session, warrant, programContext, cancel: signal }),
            });
    await streamed?.end(signal);
    if (execution.isUntrusted === true) session.taint(`${tool} (${receipt})`);
    // A call that ended before its request to a model costs nothing.
    if (asked.reservation?.isUnused === true)
      programContext.modelUsed(receipt, NO_USAGE, asked.reservation.settled(NO_USAGE));
    const denials = withEntries(asked, receipt, execution.met?.denials ?? []);
    const refused = refusedIn(execution);
    if (refused !== null && !execution.ok) {
      const reason = this.#parts.redacting.text(execution.message);
      return refusedDuringCall(asked, receipt, { execution, refused, denials, reason });
    }
    const enforcement = enforcementOf(warrant.requests, execution.met?.enforcement ?? []);
    const result = execution.ok ? withDenials(this.#parts.redacting.json(execution.value), denials) : null;
    ports.settleLater({ ...outcomeOf(receipt, execution, denials), enforcement });
    if (!execution.ok)
      return refusal(execution.code, this.#parts.redacting.text(execution.message), execution.fix ?? null);
    return { ok: true, value: { outcome: "done", receipt, result, enforcement, ...formOf(execution) } };
  }

  async run(exchange: Exchange): Promise<Answer<ProgramCompletion | ProgramRefusal | DenialView>> {
    const asked = await this.#incomingCall(exchange);
    if (!asked.ok) return asked;
    const { session, tool, ports } = asked.value;
    const { programs } = this.#parts;
    if (!programs.isProgram(tool)) return refusal("not_available", `${tool} does not run a program`);
    const client = clientIn(exchange.value, () => programs.profiles(session.facts.cwd));
    if (!client.ok) return client;
    ports.profile = client.value?.profile.id ?? null;
    const work = session.begin(exchange.signal);
    if (work === null) return { ok: false, ...session.startRefusal };
    try {
      const terminal = terminalOf(exchange, session);
      if (!terminal.ok) return terminal;
      try {
        const gate = await this.#gatekeeper.authorize(asked.value);
        if (!gate.ok) return denialOf(asked.value, gate, this.#contexts);
        const options = { client: client.value, signal: work.signal, terminal: terminal.value };
        return await orFailed(ports, gate.warrant, () => this.#run(exchange, asked.value, gate.warrant, options));
      } finally {
        if (terminal.value !== null) session.terminal = null;
      }
    } finally {
      work.end();
    }
  }

  async #run(
    exchange: Exchange,
    asked: IncomingCall,
    { receipt, arguments: decided, requests, basis }: Warrant,
    options: Pick<ProgramRun, "client" | "terminal"> & { readonly signal: AbortSignal },
  ): Promise<Answer<ProgramCompletion | ProgramRefusal>> {
    const { programs } = this.#parts;
    // The first request is the tool itself; the program follows it.
    const [argv, request, by] = [programs.argvOf(decided), requests[1], basis[1]];
    if (argv === null || request === undefined || by === undefined) {
      await asked.ports.settle({ receipt, ...REFUSED, ended: "failed invalid_input" });
      return refusal("invalid_input", "not a program that can be run");
    }
    const streamed = new StreamedOutput(exchange, null);
    const programContext = this.#programContext(asked, receipt);
    // The program's input is unknown, and its output is streamed while it runs: the session is untrusted from here on.
    asked.session.taint(`output of a program (${receipt})`);
    const result = await programs.run(programContext, {
      ...{ argv, request, by, ...options },
      input: exchange.value["hasInput"] === true ? exchange.input : null,
      sinks: streamed.sinks,
      milliseconds: numberOr(exchange.value, "milliseconds", 0, 1, waitMillisecondsMax) || null,
      onNotes: (notes) => exchange.tell({ notes }),
      needsReview: exchange.value["needsReview"] === true,
    });
    await streamed.end(options.signal);
    return settledRun(asked, receipt, request, result);
  }

  async preview(exchange: Exchange): Promise<Answer<object>> {
    const asked = await this.#incomingCall(exchange);
    if (!asked.ok) return asked;
    const { outcome, ...more } = previewCall(asked.value, asked.value.lookup);
    return { ok: true, value: { outcome, code: "code" in more ? more.code : null } };
  }

  async list(exchange: Exchange): Promise<Answer<CallMessages["tools.list"]["answers"]>> {
    const session = this.session(exchange);
    if (session === null) return NO_SESSION;
    const holding = this.#gatekeeper.holdings.of(session);
    if ("refused" in holding) return refusal("unknown_agent", holding.refused, holding.fix);
    // The list stays as it is during a freeze, so that a model calls and reads why nothing works.
    const { frozen: _frozen, ...moment } = this.#gatekeeper.moment(session, holding);
    return { ok: true, value: await this.#tools.view(session, holding.authority, moment) };
  }

  /** Synchronous for a built-in tool without derived requests; asynchronous if the tool or its requests are looked up first. */
  #incomingCall(
    exchange: Exchange,
    session: Session | null = this.session(exchange),
  ): Answer<IncomingCall> | Promise<Answer<IncomingCall>> {
    if (session === null) return NO_SESSION;
    const call = parseCall(exchange.value);
    if (call === null) return refusal("invalid_input", "a call needs the name of a tool and an object");
    const ours = this.#tools.ours(call.tool);
    if (ours !== null) return this.resolve(exchange, session, call, ours);
    return this.#tools.named(session, call.tool).then((owner) => this.resolve(exchange, session, call, owner));
  }

  resolve(
    exchange: Exchange,
    session: Session,
    call: ParsedCall,
    owner: DaemonTool | null,
  ): Answer<IncomingCall> | Promise<Answer<IncomingCall>> {
    const { tool, input, requests: texts } = call;
    // INVARIANT: a client tool never has the name of a daemon tool, or one that looks like it: secrets and grants go by name.
    if (texts !== null && (owner !== null || !parseToolName(tool.replace(/^tool:/, ""), "foreign").ok))
      return refusal("invalid_input", "an application tool needs a plain name that no other tool has");
    const holding = this.#gatekeeper.holding(session);
    if ("refused" in holding) return refusal("unknown_agent", holding.refused, holding.fix);
    const ports = this.#gatekeeper.ports(session, holding, new ExchangeWait(exchange, call.waitMilliseconds), input);
    if (texts !== null) {
      const declaration = exchange.value["declaration"] ?? null;
      const object = objectIn(exchange.value, "declaration");
      if (declaration !== null && object === null) return refusal("invalid_input", "a declaration is an object");
      const declared = object === null ? null : parseDeclaration(object, tool, holding.reading);
      if (declared !== null && !declared.ok) return declared;
      const limit = declared?.value ?? null;
      const lookup = this.#marking(session, clientToolLookup(texts, holding, limit?.requirement ?? null));
      return { ok: true, value: { session, holding, tool, input, owner, declaration: limit, ports, lookup } };
    }
    const cost = owner?.cost?.(input) ?? null;
    const reservation = cost === null ? null : new Reservation(ports, cost);
    const asked: PreviewCall = { session, holding, tool, input, ports, reservation };
    const lookup = (derived: readonly Request[] | Unread): ToolLookup =>
      withRequests(
        call.also ?? [],
        holding,
        this.#marking(session, this.#tools.lookup(owner, holding.reading, session, derived)),
      );
    const askedBy = (derived: readonly Request[] | Unread): Answer<IncomingCall> => ({
      ok: true,
      value: { session, holding, tool, input, owner, declaration: null, ports, lookup: lookup(derived), reservation },
    });
    const lacks = owner?.missing?.(session) ?? null;
    // Checked before anything is charged, and reported only to a session that may call the tool.
    if (lacks !== null && previewCall(asked, lookup([])).outcome !== "deny")
      return refusal(lacks.code ?? "not_available", lacks.message, lacks.fix);
    const resumed = resumedCall(exchange, owner, input, session);
    if (!resumed.ok) return resumed;
    if (owner?.derive === undefined) return askedBy(resumed.value);
    return this.#derived(owner, asked, lookup([]), exchange.signal).then(askedBy);
  }

  /** INVARIANT: the trigger rule applies to every tool, built-in or not. A rule that fails allows nothing. */
  #marking(session: Session, lookup: ToolLookup): ToolLookup {
    return markTriggers(lookup, (request) => this.#parts.isTrigger(session, request));
  }

  /** INVARIANT: no code of a tool runs for a session that may not call it. */
  async #derived(
    owner: DaemonTool,
    asked: PreviewCall,
    lookup: ToolLookup,
    signal: AbortSignal,
  ): Promise<readonly Request[] | Unread> {
    if (owner.derive === undefined || previewCall(asked, lookup).outcome === "deny") return [];
    const derived = await owner.derive(asked.input, asked.session, asked.holding.reading, signal);
    return derived.ok ? derived.value : derived;
  }

  #programContext(
    { session, holding, tool, input, owner, declaration, ports }: IncomingCall,
    receipt: string,
  ): ProgramContext {
    // What the call itself reads does not take away the grants that it was decided by.
    const { clean } = ports.moment();
    const { id, name, cwd, environment } = session.facts;
    const requirement = owner?.foreign?.requirement ?? declaration?.requirement;
    const limits = requirement === undefined ? [] : [requirement];
    const narrowed = (authority: Authority): Authority => narrowAuthority(authority, limits);
    return {
      authority: narrowed(holding.authority),
      owner: session.scope,
      holds: () => {
        const by = session.isClosed ? null : this.#gatekeeper.holdings.of(session);
        return by === null || "refused" in by ? [] : narrowed(by.authority);
      },
      needsReview: () => {
        const by = this.#gatekeeper.holdings.of(session);
        return "refused" in by || by.needsReview;
      },
      agent: name,
      call: receipt,
      session: id,
      generation: this.#parts.stores.ledger.generation("all"),
      cwd,
      folderNames: folderNames(session, holding, input),
      environment,
      moment: () => ({ ...ports.moment(), clean }),
      door: doorOf(session, { calls: this, gatekeeper: this.#gatekeeper, parts: this.#parts }),
      ...programUses(session, this.#gatekeeper, { narrowed, ports, receipt }, this.#parts.stores.ledger),
      refused: (denial, reason, target = null) =>
        ports.refused({ receipt, tool, denial, reason, target, isConfigured: owner?.isConfigured === true }),
    };
  }
}
