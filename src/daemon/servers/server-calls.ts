// Calls at MCP servers, round by round. A server that needs input of the person or of the client's model gets it where its entry,
// the agent's grants and the client all allow it; each round is a call of its own for the gate.
import { randomBytes } from "node:crypto";
import { parseName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { ServerAskKind } from "../../core/notation/servers/server-file.ts";
import type { Outcome } from "../../core/ports/stores/commit.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import {
  ASK_METHODS,
  ASK_VERBS,
  answerWord,
  askKind,
  ROOTS_METHOD,
  readAsk,
  readAskAnswer,
} from "../../gateway/asks.ts";
import { readServerResult } from "../../gateway/call-result.ts";
import type { CallClient, CallResume } from "../calls/call-client.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, ToolExecution } from "../tools/daemon-tool.ts";
import type { ServerAsk } from "./call-events.ts";
import { type ResumeToken, ResumeTokens, type StateOwner, stateMilliseconds } from "./call-states.ts";
import { type AcceptedAsk, inputIn, OpenCall } from "./open-call.ts";
import type { CatalogServer } from "./server-catalog.ts";
import { rootsResult } from "./server-questions.ts";
import type { ServerOwner } from "./server-run.ts";
import { signInFix } from "./server-tools.ts";
import { Upstream } from "./upstream.ts";

export interface ServerCallsOptions {
  /** Time limit of one call, without the time that people take. */
  readonly callMilliseconds: number;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
  redacted<T extends Json>(value: T): T;
  entry(owner: ServerOwner | null, outcome: string, more: JsonObject): LogEntry;
  log(entry: LogEntry): void;
  /** Why the session's grants do not allow a request now; null where they do. */
  refusal(session: Session, request: Request): DenialCode | null;
  /** The session's process of the server, as it was pinned, or why the tool cannot be called. */
  ready(
    session: Session,
    one: CatalogServer,
    tool: string,
  ): Promise<Upstream | { readonly code?: string; readonly message: string; readonly fix?: string | null }>;
  /** What is wrong with a structured result; null for nothing. */
  outputFault(one: CatalogServer, tool: string, structured: JsonObject): string | null;
}

interface HeldCall {
  readonly call: OpenCall;
  readonly session: string;
}

/** What the client has to be asked for before the server goes on. */
interface NeededInput {
  readonly asks: readonly (readonly [
    key: string,
    ask: { readonly kind: ServerAskKind; readonly params: JsonObject },
  ])[];
  readonly note: Pick<ResumeToken, "held" | "state" | "roots">;
}

const roundsMax = 16;
const heldMax = 64;
const heldOfSessionMax = 8;
const KEY = /^[\w.:-]{1,64}$/;

export class ServerCalls {
  readonly #options: ServerCallsOptions;
  readonly #states: ResumeTokens;
  readonly #held = new Map<string, HeldCall>();

  constructor(options: ServerCallsOptions) {
    this.#options = options;
    this.#states = new ResumeTokens(() => options.elapsed());
  }

  /** The requests that are decided again when a client resumes a call with answers. */
  resumed(
    one: CatalogServer,
    tool: string,
    input: JsonObject,
    session: Session,
    resume: CallResume,
  ): Result<readonly Request[]> {
    const note = this.#states.open(resume.state, ownerOf(one, tool, input, session));
    if (note !== null)
      return done([...new Set(note.asks.map(([, kind]) => kind))].flatMap((kind) => askRequest(kind, one)));
    this.#log(session, "server_refused", one, { tool, method: "requestState", code: "invalid_input" });
    return refuse("bad_value", INVALID.message);
  }

  async execute(one: CatalogServer, tool: string, call: ToolExecution): Promise<ExecutionResult> {
    const { session, signal } = call;
    const before = performance.now();
    const running = session.begin(signal);
    if (running === null) return { ok: false, ...session.startRefusal };
    try {
      const upstream = await this.#options.ready(session, one, tool);
      if (!(upstream instanceof Upstream)) return { ok: false, code: "not_available", ...upstream };
      const work = {
        ...{ tool, method: "tools/call", params: { name: tool, arguments: call.input } },
        finish: (answer: JsonObject) => this.#result(one, tool, answer),
      };
      const result = await this.rounds(one, work, call, upstream, running.signal);
      const wallMicroseconds = Math.round((performance.now() - before) * 1000);
      const enforcement: Outcome["enforcement"] = [
        { axis: "tool", strength: "checked" },
        ...upstream.enforcement.map(({ axis, strength }) => ({ axis, strength })),
      ];
      const met = { denials: [], enforcement, wallMicroseconds };
      const { ended = "done", ...told } = result;
      return { ...told, isUntrusted: !one.server.isClean, met: { ...met, ended } };
    } finally {
      running.end();
    }
  }

  /** One call of ours that is a request at the server: a tool's, or the read of a resource or a prompt. */
  async rounds(
    one: CatalogServer,
    { tool, method, params: own, finish }: ServerWork,
    { input, session, client }: Pick<ToolExecution, "input" | "session" | "client">,
    upstream: Upstream,
    signal: AbortSignal,
  ): Promise<Round> {
    const owner = ownerOf(one, tool, input, session);
    const resume = client?.resume ?? null;
    let note = resume === null ? null : this.#states.open(resume.state, owner);
    if (resume !== null && note === null) return INVALID;
    const answers = resume === null || note === null ? [] : this.#answers(one, tool, session, note, resume);
    if (answers === null) return SECRET_ANSWER;
    let responses: JsonObject = Object.fromEntries(answers);
    let open = note?.held == null ? null : this.#take(note.held, session, responses);
    if (note?.held != null && open === null) return INVALID;
    for (let round = note?.rounds ?? 0; round < roundsMax; round++) {
      const retry: JsonObject =
        note === null
          ? {}
          : { inputResponses: responses, ...(note.state === null ? {} : { requestState: note.state }) };
      open ??= this.#begin(one, session, client, upstream, { method, params: { ...own, ...retry } });
      const answer = await open.round(client, signal);
      if (answer?.ok === false)
        return { ok: false, code: answer.code, message: answer.message, ...signInFix(one, answer) };
      if (answer === null) return this.#asked(one, tool, owner, session, round, this.#hold(open, session));
      const needed = inputIn(answer.value);
      if (needed === null) return finish(answer.value);
      open = null;
      const wanted = this.#wanted(one, session, client, upstream, needed);
      if ("message" in wanted) return { ok: false, code: "execution_failed", ...wanted };
      // Its roots are answered here; everything else is for the client.
      if (wanted.asks.length > 0 || wanted.note.roots.length === 0)
        return this.#asked(one, tool, owner, session, round, wanted);
      note = { ...wanted.note, held: null, asks: [], rounds: round };
      responses = rootResponses(wanted.note.roots, upstream);
    }
    return { ok: false, code: "execution_failed", message: "the server requested input too many times" };
  }

  /** The client's answers by key; null where one of them has the value of a secret. */
  #answers(
    one: CatalogServer,
    tool: string,
    session: Session,
    note: ResumeToken,
    { responses }: CallResume,
  ): readonly (readonly [string, JsonObject])[] | null {
    if (JSON.stringify(this.#options.redacted(responses)) !== JSON.stringify(responses)) return null;
    return note.asks.flatMap(([key, kind]) => {
      const answer = readAskAnswer(kind, member(responses, key));
      if (answer === null) return [];
      // INVARIANT: what a person or a model said is not logged.
      this.#log(session, "server_answered", one, { tool, method: ASK_METHODS[kind], answer: answerWord(kind, answer) });
      return [[key, answer] as const];
    });
  }

  #begin(
    one: CatalogServer,
    session: Session,
    client: CallClient | null,
    upstream: Upstream,
    { method, params }: Pick<ServerWork, "method" | "params">,
  ): OpenCall {
    const { callMilliseconds, redacted } = this.#options;
    return new OpenCall(client, {
      server: one.server.name,
      redacted,
      accept: (ask) => this.#accept(one, session, client, upstream, ask),
      start: (events, signal) => upstream.request(method, params, signal, callMilliseconds, events),
    });
  }

  #accept(
    one: CatalogServer,
    session: Session,
    client: CallClient | null,
    upstream: Upstream,
    { kind, params }: Pick<ServerAsk, "kind" | "params">,
  ): { readonly params: JsonObject } | { readonly why: string } {
    const refused = (code: DenialCode, why: string): { readonly why: string } => {
      upstream.refused(ASK_METHODS[kind], code);
      return { why };
    };
    if (!one.server.asks.has(kind)) return refused("not_available", "ambit does not offer this");
    if (client?.answers.has(kind) !== true) return refused("not_available", "the client does not support this request");
    const [request] = askRequest(kind, one);
    const code = request === undefined ? "capability_absent" : this.#options.refusal(session, request);
    if (code !== null) return refused(code, `no grant allows it: ${ASK_VERBS[kind]} (${code})`);
    const read = readAsk(kind, one.server.name, params);
    return read.ok ? { params: read.params } : refused("invalid_input", read.why);
  }

  /** What a server of the newer era needs, or why it does not get it. */
  #wanted(
    one: CatalogServer,
    session: Session,
    client: CallClient | null,
    upstream: Upstream,
    { requests, state }: NonNullable<ReturnType<typeof inputIn>>,
  ): NeededInput | { readonly message: string } {
    const asks: (readonly [string, { readonly kind: ServerAskKind; readonly params: JsonObject }])[] = [];
    const roots: string[] = [];
    for (const [key, wanted] of Object.entries(requests)) {
      const method = isJsonObject(wanted) ? member(wanted, "method") : undefined;
      const kind = typeof method === "string" ? askKind(method) : null;
      if (!KEY.test(key) || asks.length >= heldOfSessionMax) return { message: "the server's result is malformed" };
      if (method === ROOTS_METHOD && upstream.offers.roots !== null) {
        roots.push(key);
        continue;
      }
      if (kind === null) upstream.refused(String(method), "not_available");
      const params = isJsonObject(wanted) ? member(wanted, "params") : undefined;
      const accepted =
        kind === null
          ? { why: "ambit does not offer this" }
          : this.#accept(one, session, client, upstream, { kind, params });
      if ("why" in accepted || kind === null)
        return {
          message: `the server asks for ${String(method).slice(0, 64)} before it answers, which is refused: ${"why" in accepted ? accepted.why : ""}`,
        };
      asks.push([key, { kind, params: accepted.params }]);
    }
    return { asks, note: { held: null, state, roots } };
  }

  #hold(call: OpenCall, session: Session): NeededInput | { readonly message: string } {
    const mine = [...this.#held.values()].filter((one) => one.session === session.facts.id);
    if (this.#held.size >= heldMax || mine.length >= heldOfSessionMax) {
      call.cancel();
      return { message: "too many server calls are waiting for answers" };
    }
    const held = randomBytes(16).toString("hex");
    const timer = setTimeout(() => call.cancel(), stateMilliseconds);
    timer.unref();
    this.#held.set(held, { call, session: session.facts.id });
    void call.over.then(() => {
      clearTimeout(timer);
      this.#held.delete(held);
    });
    const asks = [...call.asks].map(([key, { ask, params }]) => [key, { kind: ask.kind, params }] as const);
    return { asks, note: { held, state: null, roots: [] } };
  }

  /** Once: a note that comes back a second time finds nothing. */
  #take(held: string, session: Session, responses: JsonObject): OpenCall | null {
    const known = this.#held.get(held);
    if (known === undefined || known.session !== session.facts.id) return null;
    this.#held.delete(held);
    for (const [key, { ask }] of [...known.call.asks] satisfies readonly (readonly [string, AcceptedAsk])[]) {
      const answer = member(responses, key);
      if (!isJsonObject(answer)) continue;
      known.call.asks.delete(key);
      ask.give(answer);
    }
    return known.call;
  }

  #asked(
    one: CatalogServer,
    tool: string,
    owner: StateOwner,
    session: Session,
    rounds: number,
    wanted: NeededInput | { readonly message: string },
  ): Round {
    if ("message" in wanted) return { ok: false, code: "not_available", ...wanted };
    const { asks, note } = wanted;
    for (const [, { kind }] of asks) this.#log(session, "server_asked", one, { tool, method: ASK_METHODS[kind] });
    const kinds = asks.map(([key, { kind }]) => [key, kind] as const);
    const requestState = this.#states.seal({ ...note, asks: kinds, rounds: rounds + 1 }, owner);
    const inputRequests = Object.fromEntries(
      asks.map(([key, { kind, params }]) => [key, { method: ASK_METHODS[kind], params }]),
    );
    const value = { ...(asks.length === 0 ? {} : { inputRequests }), requestState };
    return { ok: true, value, isInputRequired: true, ended: "input_required" };
  }

  #result(one: CatalogServer, tool: string, answer: JsonObject): Round {
    const read = readServerResult(answer);
    if (read === null) return { ok: false, code: "execution_failed", message: "the server's result is malformed" };
    const { content, structuredContent, isError } = read;
    const fault =
      structuredContent === null || isError ? null : this.#options.outputFault(one, tool, structuredContent);
    if (fault !== null) return { ok: false, code: "execution_failed", message: fault };
    const value = { content, ...(structuredContent === null ? {} : { structuredContent }), isError };
    return { ok: true, value, isServerResult: true, ended: isError ? "tool_error" : "done" };
  }

  #log(session: Session, outcome: string, { server }: CatalogServer, more: JsonObject): void {
    this.#options.log(this.#options.entry(session, outcome, { server: server.name, ...more }));
  }
}

/** What is asked of a server, and what its answer becomes. `tool`: under which name the call is logged, and its note sealed. */
export interface ServerWork {
  readonly tool: string;
  readonly method: string;
  readonly params: JsonObject;
  finish(answer: JsonObject): Round;
}

export type Round =
  | {
      readonly ok: true;
      readonly value: Json;
      readonly isServerResult?: true;
      readonly isInputRequired?: true;
      readonly ended: string;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly fix?: string | null;
      readonly ended?: string;
    };

const INVALID = {
  ok: false,
  code: "invalid_input",
  message: "the state of this call is not valid, was used, or has expired: call the tool again",
} as const;

const SECRET_ANSWER = {
  ok: false,
  code: "secret_refused",
  message: "the answer contains the value of a secret, which must not be sent to a server this way",
} as const;

function ownerOf(one: CatalogServer, tool: string, input: JsonObject, { facts }: Session): StateOwner {
  const { id, name } = facts;
  return {
    session: id,
    agent: `${name.workspace ?? ""} ${name.agent}`,
    server: `${one.server.name} ${one.digest}`,
    tool,
    input,
  };
}

function askRequest(kind: ServerAskKind, { server }: CatalogServer): readonly Request[] {
  const [verb, name] = [verbEntry(ASK_VERBS[kind]), parseName(server.name)];
  return verb === null || !name.ok ? [] : [{ verb, values: [name.value] }];
}

function rootResponses(keys: readonly string[], { offers }: Upstream): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, rootsResult(offers)]));
}
