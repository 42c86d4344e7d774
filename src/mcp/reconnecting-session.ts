// The daemon session behind an MCP server: opened on first use, and opened again after the daemon restarts.
import { BUILTIN_TOOLS } from "../core/authority/axes/name.ts";
import type { DenialCode } from "../core/authority/decision.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type {
  CallMessages,
  CallRequest,
  DenialView,
  OpenSessionRequest,
  OpenSessionResult,
  ToolView,
} from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient, Refusal, RequestOptions } from "../core/ports/daemon/exchange.ts";
import {
  type CallResult,
  deniedResult,
  doneResult,
  inputResult,
  refusedResult,
  servedResult,
  unknownTool,
} from "./call-result.ts";
import { CallSlots } from "./call-slots.ts";
import { callsAtOnceMax } from "./limits.ts";
import { type PromptAnswer, type PromptOptions, promptAnswer, promptDenial } from "./prompt-tool.ts";

export interface SessionOptions {
  readonly opening: OpenSessionRequest;
  /** A session that this one goes on from; its labels are kept. */
  readonly previous?: string | null;
  /** How long a call waits for approval. */
  readonly waitMilliseconds: number;
  /** Connects to the daemon, starting it if necessary; `onLost` is called when the connection closes. */
  connect(onLost: () => void): Promise<Answer<MessageClient<CallMessages>>>;
  /** Called for a call that did not reach the daemon, which therefore has not logged it. */
  onUnserved?(tool: string, refusal: Refusal): void;
  /** Converts a result for the model: fetched pages become text here. */
  present(tool: string, input: JsonObject, result: Json): Json | Promise<Json>;
  /** Prints a line for the user who started the server. */
  note(line: string): void;
}

interface Live {
  readonly calls: MessageClient<CallMessages>;
  readonly opened: OpenSessionResult;
}

export class ReconnectingSession {
  readonly #options: SessionOptions;
  readonly #slots = new CallSlots(callsAtOnceMax);
  #live: Promise<Answer<Live>> | null = null;
  /** The previous session, if it made calls: the model still holds what it read there. */
  #previous: string | null = null;
  /** INVARIANT: a session of a user who had a record never continues without one. */
  #needsUserRecord = false;
  /** Tools that were listed or called at some time. */
  readonly #known = new Set<string>();
  #changes: string | null = null;
  /** Set once no further session may be opened. */
  #final: Refusal | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#previous = options.previous ?? null;
  }

  /** The last session that made calls; null if none did. */
  get previous(): string | null {
    return this.#previous;
  }

  /** A version: it differs when resources or prompts may have changed; null before the first list. */
  get changes(): string | null {
    return this.#changes;
  }

  /** Opens a session if there is none. After a failure the next call tries again. */
  async open(): Promise<Answer<OpenSessionResult>> {
    const live = await this.#session();
    return live.ok ? { ok: true, value: live.value.opened } : live;
  }

  async list(): Promise<Answer<readonly ToolView[]>> {
    const live = await this.#session();
    if (!live.ok) return live;
    return this.#listWith(live.value);
  }

  /** The list of the open session; null if there is none. */
  async currentList(): Promise<readonly ToolView[] | null> {
    const live = this.#live === null ? null : await this.#live;
    if (live === null || !live.ok) return null;
    const listed = await this.#listWith(live.value);
    return listed.ok ? listed.value : null;
  }

  /** Always returns a result: failures are reported to the model. */
  async call(
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
    during: ClientCallOptions = {},
  ): Promise<CallResult> {
    if (!(await this.#slots.acquire(signal))) return CANCELLED;
    try {
      const live = await this.#session();
      // The session may have taken seconds to open.
      if (signal.aborted) return CANCELLED;
      if (live.ok) return await this.#callWith(live.value, tool, input, signal, during);
      if (live !== CLOSED) this.#options.onUnserved?.(tool, live);
      return refusedResult(tool, live);
    } finally {
      this.#slots.release();
    }
  }

  /** A call of the client itself, decided as its hook would. */
  async prompt(asked: JsonObject, options: PromptOptions, signal: AbortSignal): Promise<PromptAnswer> {
    const live = await this.#session();
    return live.ok ? promptAnswer(live.value.calls, asked, options, signal) : promptDenial(live.message);
  }

  /** The daemon ends what the session still runs when the connection closes. */
  close(): void {
    this.#final = CLOSED;
    void this.#live?.then((live) => {
      if (live.ok) live.value.calls.close();
    });
  }

  #session(): Promise<Answer<Live>> {
    if (this.#final !== null) return Promise.resolve(this.#final);
    if (this.#live !== null) return this.#live;
    const opening: Promise<Answer<Live>> = this.#open(() => this.#lose(opening)).then((live) => {
      if (!live.ok) this.#lose(opening);
      return live;
    });
    this.#live = opening;
    return opening;
  }

  #lose(lost: Promise<Answer<Live>>): void {
    if (this.#live === lost) this.#live = null;
  }

  async #open(onLost: () => void): Promise<Answer<Live>> {
    const connected = await this.#options.connect(onLost);
    if (!connected.ok) return connected;
    const calls = connected.value;
    const opened = await calls.ask("session.open", {
      ...this.#options.opening,
      needsUserRecord: this.#needsUserRecord,
    });
    if (!opened.ok) {
      calls.close();
      return opened;
    }
    const { session, notes, hasUserRecord } = opened.value;
    this.#needsUserRecord ||= hasUserRecord;
    // INVARIANT: a session that continues another one is tainted like it.
    if (this.#previous !== null) {
      const tainted = await calls.ask("session.taint", { session, why: `continues the session ${this.#previous}` });
      if (!tainted.ok) {
        calls.close();
        return tainted;
      }
    }
    if (this.#previous === null) for (const note of notes) this.#options.note(note);
    return { ok: true, value: { calls, opened: opened.value } };
  }

  async #listWith({ calls, opened }: Live): Promise<Answer<readonly ToolView[]>> {
    const answer = await calls.ask("tools.list", { session: opened.session });
    if (!answer.ok) {
      this.#endedBy(answer);
      return answer;
    }
    const { tools, changes = 0 } = answer.value;
    this.#changes = `${opened.session} ${changes}`;
    for (const { name } of tools) this.#known.add(name);
    return { ok: true, value: tools };
  }

  /** INVARIANT: a session that a user ended is not opened again; the user restarts the server. */
  #endedBy({ code }: Refusal): void {
    if (code === "unknown_session") this.#final ??= ENDED;
  }

  async #callWith(
    live: Live,
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
    during: ClientCallOptions,
  ): Promise<CallResult> {
    const { session } = live.opened;
    this.#previous = session;
    const { waitMilliseconds, note } = this.#options;
    const { client, resume } = during;
    const asks = {
      ...{ session, tool, input, requests: null, waitMilliseconds },
      ...(client === undefined ? {} : { client }),
      ...(resume === undefined ? {} : { resume }),
    };
    const answer = await live.calls.ask("call.do", asks, callEvents(signal, note, during));
    if (!answer.ok) {
      this.#endedBy(answer);
      return refusedResult(tool, answer.code === "unknown_session" ? ENDED : answer);
    }
    const { value } = answer;
    if (value.outcome === "denied") return this.#denied(live, tool, value);
    this.#known.add(tool);
    if (value.isInputRequired === true) return inputResult(value.result);
    if (value.isServerResult === true) return servedResult(value.result);
    return doneResult(await this.#options.present(tool, input, value.result), value.enforcement);
  }

  async #denied(live: Live, tool: string, denial: DenialView): Promise<CallResult> {
    // Everybody knows the built-in tools, so the model reads what it would have to ask for.
    if (isBuiltin(tool)) return deniedResult(tool, denial);
    const wasKnown = this.#known.has(tool);
    // A fresh list: the answer must not reveal grants that were added or removed since the last one.
    const listed = await this.#listWith(live);
    // Without a list, a tool that was known before still gets its real denial.
    const isListed = listed.ok ? listed.value.some(({ name }) => name === tool) : wasKnown;
    // A client that could call the tool may know that its budget or grant has ended.
    const hasEnded = wasKnown && ENDED_CODES.has(denial.code);
    // The project's own files name what needs trust, and the model has to tell the user.
    const isKnown = isListed || hasEnded || denial.code === "untrusted_policy" || denial.code === "frozen";
    return isKnown ? deniedResult(tool, denial) : unknownTool(tool, denial);
  }
}

function isBuiltin(tool: string): boolean {
  return BUILTIN_TOOLS.includes(tool.replace(/^builtin:/, ""));
}

/** What the client can do while a call runs, and what it wants to hear. */
export interface ClientCallOptions extends Pick<CallRequest, "client" | "resume"> {
  onWaiting?(approval: string): void;
  /** Of an MCP server: progress, or a log message. */
  onTold?(kind: "progress" | "log" | "changed", told: JsonObject): void;
}

function callEvents(signal: AbortSignal, note: (line: string) => void, during: ClientCallOptions): RequestOptions {
  return {
    signal,
    onEvent: (event) => {
      if (!isJsonObject(event)) return;
      for (const kind of ["progress", "log", "changed"] as const) {
        const told = member(event, kind);
        if (isJsonObject(told)) during.onTold?.(kind, told);
      }
      const waiting = member(event, "waiting");
      if (typeof waiting !== "string") return;
      note(`a call needs approval: ambit approve ${waiting}`);
      during.onWaiting?.(waiting);
    },
  };
}

const ENDED_CODES: ReadonlySet<DenialCode> = new Set<DenialCode>([
  "budget_exhausted",
  "expired",
  "revoked",
  "generation_stale",
  "frozen",
]);

/** The SDK discards the result of a cancelled call. */
const CANCELLED: CallResult = { content: [], structuredContent: {}, isError: true };

const CLOSED: Refusal = { ok: false, code: "not_available", message: "the server is shutting down", fix: null };

const ENDED: Refusal = {
  ok: false,
  code: "revoked",
  message: "a person has ended this session",
  fix: "tell the user to restart the server",
};
