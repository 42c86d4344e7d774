// One agent's session in an application: the tools it may call, and the calls.
import type { CallAnswer, CallOptions, ModelSession, SessionTool } from "../adapters/session.ts";
import { BUILTIN_TOOLS } from "../core/authority/axes/name.ts";
import type { PathSettings } from "../core/authority/axes/path.ts";
import { linkedController, onAbort } from "../core/base/abort.ts";
import { copyJson, isJsonObject, type JsonObject } from "../core/base/json.ts";
import type { CallMessages, OpenSessionResult, ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { SAYS_UNAVAILABLE } from "../runtime/tool/availability.ts";
import type { RegisteredTool } from "../runtime/tool/registered.ts";
import type { Registry } from "../runtime/tool/registry.ts";
import type { Provider, ProviderSettings } from "../tools/provider/provider-catalog.ts";
import type { Present } from "../tools/web/present-result.ts";
import { AmbitRefused, denialAnswer, refusalAnswer, refusedHere, STOPPED } from "./answers.ts";
import { callOwn } from "./own-tool.ts";

export interface SessionParts {
  readonly calls: MessageClient<CallMessages>;
  readonly opened: OpenSessionResult;
  readonly registry: Registry;
  readonly protectedPaths: PathSettings["protectedPaths"];
  readonly present: Present;
  now(): number;
  /** The session has ended. */
  ended(session: Session): void;
}

const waitSecondsMax = 86_400;
/** How long `close` waits for local calls to report their outcomes. */
const closeMillisecondsMax = 2000;

export class Session implements ModelSession {
  readonly #parts: SessionParts;
  readonly #over = new AbortController();
  /** Must settle before the session ends: local calls and the reports of their outcomes. */
  readonly #later = new Set<Promise<unknown>>();
  readonly id: string;
  readonly agent: string;
  readonly trace: string;
  /** Notes on the agent's record, as sentences. */
  readonly notes: readonly string[];

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { session, agent, trace, notes } = parts.opened;
    this.id = session;
    this.agent = agent;
    this.trace = trace;
    this.notes = notes;
  }

  /** Never rejects: a denial, a refusal or a failure is an answer with a code. */
  async call(name: string, input: unknown = {}, options: CallOptions = {}): Promise<CallAnswer> {
    const { waitSeconds = 0, deadlineSeconds, signal } = options;
    const plain = copyJson(input ?? {});
    if (typeof name !== "string" || !isJsonObject(plain))
      return refusedHere("invalid_input", "a call needs the name of a tool and one plain object");
    if (!(waitSeconds >= 0 && waitSeconds <= waitSecondsMax))
      return refusedHere("invalid_input", `waitSeconds is a number of seconds, at most ${waitSecondsMax}`);
    if (deadlineSeconds !== undefined && !(deadlineSeconds > 0 && deadlineSeconds <= waitSecondsMax))
      return refusedHere("invalid_input", `deadlineSeconds is a number of seconds, at most ${waitSecondsMax}`);
    if (this.#over.signal.aborted) return refusedHere("revoked", "the session is closed");
    // Listeners are removed from signals that outlive the call.
    const { controller, release } = linkedController(this.#over.signal, ...(signal === undefined ? [] : [signal]));
    const cancel = controller.signal;
    let isLate = false;
    const late = (): void => {
      isLate = true;
      controller.abort();
    };
    const timer = deadlineSeconds === undefined ? null : setTimeout(late, deadlineSeconds * 1000);
    try {
      if (cancel.aborted) return STOPPED;
      const waitMilliseconds = Math.ceil(waitSeconds * 1000);
      const own = this.#own(name);
      const answer =
        own === null
          ? this.#do(name, plain, waitMilliseconds, cancel)
          : this.#kept(this.#run(own, plain, waitMilliseconds, cancel));
      // A cancelled call is answered at once, even if work for it still goes on elsewhere.
      return await Promise.race([
        answer,
        new Promise<CallAnswer>((give) => void onAbort(cancel, () => give(isLate ? LATE : STOPPED))),
      ]);
    } finally {
      if (timer !== null) clearTimeout(timer);
      release();
    }
  }

  /** Only tools that this session's grants can ever allow, by name. */
  async tools(): Promise<readonly SessionTool[]> {
    const { calls, registry } = this.#parts;
    const own = registry.list().filter(({ name }) => registry.find(name)?.tool.isAvailable() === true);
    const declared = own.map(({ name, capabilities }) => ({ name, declaration: capabilities }));
    const [listed, reached] = await Promise.all([
      calls.ask("tools.list", { session: this.id }),
      calls.ask("tools.reach", { session: this.id, tools: declared }),
    ]);
    const { names } = given(reached);
    const passed = own
      .filter(({ name }) => names.includes(name))
      .map(({ name, description, schema }): SessionTool => {
        return { name, origin: "application", description, input: schema ?? { type: "object" } };
      });
    const theirs = given(listed).tools.filter(({ name }) => this.#own(name) === null);
    return [...theirs, ...passed].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** Tools of the model's provider that a request may name; see the reference for how they are enforced there. */
  async providerTools(provider: Provider, settings: ProviderSettings = {}): Promise<ProviderToolsView> {
    const { names = null, vectorStores = null } = settings;
    return given(await this.#parts.calls.ask("tools.provider", { session: this.id, provider, names, vectorStores }));
  }

  /** Narrows the session permanently. Rejects if that failed: then the session has not been narrowed. */
  async pledge(specs: readonly string[]): Promise<void> {
    given(await this.#parts.calls.ask("session.pledge", { session: this.id, specs }));
  }

  /** Marks the session as having read untrusted content outside ambit. Cannot be undone. */
  async taint(why: string): Promise<void> {
    given(await this.#parts.calls.ask("session.taint", { session: this.id, why }));
  }

  /** Ends everything that runs for the session. Idempotent. */
  async close(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    await settledWithin(this.#later, closeMillisecondsMax);
    await this.#parts.calls.ask("session.close", { session: this.id });
    this.#parts.ended(this);
  }

  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** An application tool never takes the name of a built-in tool. */
  #own(name: string): RegisteredTool | null {
    if (name.startsWith("builtin:") || BUILTIN_TOOLS.includes(name)) return null;
    return this.#parts.registry.find(name);
  }

  async #do(tool: string, input: JsonObject, waitMilliseconds: number, signal: AbortSignal): Promise<CallAnswer> {
    const { calls, present } = this.#parts;
    const asked = { session: this.id, tool, input, requests: null, waitMilliseconds };
    const answer = await calls.ask("call.do", asked, { signal });
    if (!answer.ok) return refusalAnswer(answer);
    if (answer.value.outcome === "denied") return denialAnswer(answer.value);
    const { receipt, result, enforcement } = answer.value;
    return { ok: true, value: await present(tool.replace(/^builtin:/, ""), input, result), receipt, enforcement };
  }

  #run(tool: RegisteredTool, input: JsonObject, waitMilliseconds: number, signal: AbortSignal): Promise<CallAnswer> {
    const { calls, protectedPaths, now } = this.#parts;
    const { id: session, agent } = this;
    // Before anything is decided or charged.
    if (!tool.tool.isAvailable()) return Promise.resolve(refusedHere("not_available", SAYS_UNAVAILABLE));
    return callOwn({ calls, session, agent, tool, input, waitMilliseconds, signal, protectedPaths, now });
  }

  #kept<T>(going: Promise<T>): Promise<T> {
    const kept = going.finally(() => this.#later.delete(kept));
    this.#later.add(kept);
    return kept;
  }
}

const LATE: CallAnswer = refusedHere("deadline_exceeded", "the call was stopped at its deadline");

function given<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new AmbitRefused(answer);
  return answer.value;
}

/** Also waits for work that starts meanwhile. */
async function settledWithin(going: ReadonlySet<Promise<unknown>>, millisecondsMax: number): Promise<void> {
  let isLate = false;
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<void>((give) => {
    timer = setTimeout(() => {
      isLate = true;
      give();
    }, millisecondsMax);
  });
  while (going.size > 0 && !isLate) await Promise.race([Promise.allSettled([...going]), late]);
  if (timer !== null) clearTimeout(timer);
}
