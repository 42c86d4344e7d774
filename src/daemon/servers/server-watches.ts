// What a session hears of a server without a call: that its lists are others, and that watched resources changed. In the older era the
// server is told of each resource; in the newer one a request that names all of them stays open. What is heard is only that something
// changed: it is read again by a decided call.
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { type ListenEnd, Listening } from "./listening.ts";
import { META, type UpstreamResult, unavailable } from "./server-message.ts";

export interface ServerWatchesOptions {
  isStateless(): boolean;
  /** What the server declared at its start. */
  capabilities(): JsonObject | null;
  ask(method: string, params: JsonObject, signal: AbortSignal | null): Promise<UpstreamResult<JsonObject>>;
  /** Something may have changed that the server could not say. */
  missed(): void;
}

/** Of one server and session. */
const watchesMax = 32;
/** How long a request that names other resources has to reach the server before the one before it ends. */
const overlapMilliseconds = 2_000;

export class ServerWatches {
  readonly #options: ServerWatchesOptions;
  readonly #watched = new Map<string, Set<() => void>>();
  /** The newer era: the request that is open, and what ends watches that the server refuses. */
  #listening: Listening | null = null;
  #opened: () => void = () => undefined;
  /** The number of the newest request that the server acknowledged, and whether it tells of tools on it. */
  #heard: { readonly number: number; readonly tellsOfTools: boolean } | null = null;
  readonly #refusals = new Set<(why: UpstreamResult<never>) => void>();
  #wantsLists = false;

  constructor(options: ServerWatchesOptions) {
    this.#options = options;
  }

  /** In the newer era a server tells of other lists only while a request for that is open. */
  get hearsOfTools(): boolean {
    return this.isListening && this.#heard?.tellsOfTools === true;
  }

  get isListening(): boolean {
    return this.#listening?.isOpen === true;
  }

  /** The newer era: until the server ends. */
  listenToLists(): void {
    this.#wantsLists = Object.keys(toldLists(this.#options.capabilities())).length > 0;
    this.#listen();
  }

  get isEmpty(): boolean {
    return this.#watched.size === 0;
  }

  /** Until the signal aborts, or the server refuses it. Null where it ended as it should. */
  async watch(
    uri: string,
    changed: () => void,
    signal: AbortSignal,
    started: () => void,
  ): Promise<UpstreamResult<null>> {
    if (!tellsOfResources(this.#options.capabilities()))
      return unavailable("the server does not send change notifications");
    const known = this.#watched.get(uri);
    if (known === undefined && this.#watched.size >= watchesMax)
      return unavailable(`more than ${watchesMax} subscriptions to this server are open`);
    const listeners = known ?? new Set();
    this.#watched.set(uri, listeners);
    listeners.add(changed);
    const isStateless = this.#options.isStateless();
    try {
      if (isStateless && known === undefined) this.#listen();
      return await (isStateless
        ? this.#listened(signal, started)
        : this.#subscribe(uri, known === undefined, signal, started));
    } finally {
      listeners.delete(changed);
      if (listeners.size === 0) {
        this.#watched.delete(uri);
        if (isStateless) this.#listen();
        else void this.#options.ask("resources/unsubscribe", { uri }, null);
      }
    }
  }

  updated(params: JsonObject): void {
    // Two requests are open for a moment: what is said on the older one is said on the newer one, too.
    if (numberOf(params) < (this.#heard?.number ?? 0)) return;
    const uri = member(params, "uri");
    for (const changed of typeof uri === "string" ? (this.#watched.get(uri) ?? []) : []) changed();
  }

  /** Any of them may have changed. */
  allUpdated(): void {
    for (const listeners of [...this.#watched.values()]) for (const changed of [...listeners]) changed();
  }

  /** The newer era: the server says that it hears the request that is open. */
  acknowledged(params: JsonObject): void {
    const number = numberOf(params);
    if (number < (this.#heard?.number ?? 0)) return;
    const honoured = member(params, "notifications");
    const tellsOfTools = isJsonObject(honoured) && member(honoured, "toolsListChanged") === true;
    // One without a number is older than any that has one.
    this.#heard = { number: number === Number.MAX_SAFE_INTEGER ? 0 : number, tellsOfTools };
    this.#opened();
  }

  stop(): void {
    this.#listening?.stop();
    this.#listening = null;
    this.#wantsLists = false;
  }

  async #subscribe(
    uri: string,
    isFirst: boolean,
    signal: AbortSignal,
    started: () => void,
  ): Promise<UpstreamResult<null>> {
    const subscribed = isFirst ? await this.#options.ask("resources/subscribe", { uri }, signal) : null;
    if (subscribed !== null && !subscribed.ok) return signal.aborted ? OVER : subscribed;
    started();
    if (!signal.aborted) await new Promise((over) => signal.addEventListener("abort", over, { once: true }));
    return OVER;
  }

  /** The server confirms it by a notification, which nothing waits for. */
  async #listened(signal: AbortSignal, started: () => void): Promise<UpstreamResult<null>> {
    started();
    if (signal.aborted) return OVER;
    return new Promise((done) => {
      const end = (result: UpstreamResult<null>): void => {
        this.#refusals.delete(end);
        signal.removeEventListener("abort", over);
        done(result);
      };
      const over = (): void => end(OVER);
      this.#refusals.add(end);
      signal.addEventListener("abort", over, { once: true });
    });
  }

  /** One request for all that is wanted now. The one before it ends a little later, so that nothing is missed between them. */
  #listen(): void {
    const before = this.#listening;
    const uris = [...this.#watched.keys()];
    const notifications: JsonObject = {
      ...(this.#wantsLists ? toldLists(this.#options.capabilities()) : {}),
      ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
    };
    if (Object.keys(notifications).length === 0) {
      before?.stop();
      this.#listening = null;
      return;
    }
    let refusal: UpstreamResult<never> | null = null;
    this.#listening = new Listening({
      connect: async (signal, opened): Promise<ListenEnd> => {
        this.#opened = opened;
        const listened = await this.#options.ask("subscriptions/listen", { notifications }, signal);
        if (listened.ok || listened.code === "not_available") return "lost";
        refusal = listened;
        return "refused";
      },
      missed: () => this.#options.missed(),
      refused: () => {
        if (refusal !== null) for (const end of [...this.#refusals]) end(refusal);
      },
    });
    before?.replaced(overlapMilliseconds);
  }
}

const OVER: UpstreamResult<null> = { ok: true, value: null };

/** The number of the request that a notification belongs to; a notification without one belongs to the newest. */
function numberOf(params: JsonObject): number {
  const meta = member(params, "_meta");
  const id = isJsonObject(meta) ? member(meta, `${META}subscriptionId`) : undefined;
  return typeof id === "number" ? id : Number.MAX_SAFE_INTEGER;
}

/** Whether a server says at all that something changed. */
export function tellsOfChanges(capabilities: JsonObject | null): boolean {
  return tellsOfResources(capabilities) || Object.keys(toldLists(capabilities)).length > 0;
}

/** The capability of a server that tells of changes of single resources. */
function tellsOfResources(capabilities: JsonObject | null): boolean {
  const resources = capabilities === null ? undefined : member(capabilities, "resources");
  return isJsonObject(resources) && member(resources, "subscribe") === true;
}

/** Of which lists a server says that it tells of changes, as a request for that has it. */
function toldLists(capabilities: JsonObject | null): JsonObject {
  const kinds = ["tools", "resources", "prompts"].filter((kind) => {
    const capability = capabilities === null ? undefined : member(capabilities, kind);
    return isJsonObject(capability) && member(capability, "listChanged") === true;
  });
  return Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
}
