// Resources of a server that a session watches. In the older era the server is told of each; in the newer one a request stays open
// for as long as anything is watched. What is heard is only that something changed: it is read again by a decided call.
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { type UpstreamResult, unavailable } from "./server-message.ts";

export interface ServerWatchesOptions {
  isStateless(): boolean;
  /** Whether the server says that it tells of changes. */
  isOffered(): boolean;
  ask(method: string, params: JsonObject, signal: AbortSignal | null): Promise<UpstreamResult<JsonObject>>;
}

/** Of one server and session. */
const watchesMax = 32;

export class ServerWatches {
  readonly #options: ServerWatchesOptions;
  readonly #watched = new Map<string, Set<() => void>>();
  #hearsOfTools = false;

  constructor(options: ServerWatchesOptions) {
    this.#options = options;
  }

  /** In the newer era a server tells of other lists only while a request for that is open. */
  get hearsOfTools(): boolean {
    return this.#hearsOfTools;
  }

  /** Until the server ends it; whatever it answers. */
  async listenToLists(capabilities: JsonObject | null): Promise<void> {
    const notifications = toldLists(capabilities);
    if (Object.keys(notifications).length === 0) return;
    this.#hearsOfTools = notifications["toolsListChanged"] === true;
    await this.#options.ask("subscriptions/listen", { notifications }, null);
    this.#hearsOfTools = false;
  }

  get isEmpty(): boolean {
    return this.#watched.size === 0;
  }

  /** Until the signal aborts, or the server ends it. Null where it ended as it should. */
  async watch(
    uri: string,
    changed: () => void,
    signal: AbortSignal,
    started: () => void,
  ): Promise<UpstreamResult<null>> {
    if (!this.#options.isOffered()) return unavailable("the server does not send change notifications");
    const known = this.#watched.get(uri);
    if (known === undefined && this.#watched.size >= watchesMax)
      return unavailable(`more than ${watchesMax} subscriptions to this server are open`);
    const listeners = known ?? new Set();
    this.#watched.set(uri, listeners);
    listeners.add(changed);
    try {
      return await (this.#options.isStateless()
        ? this.#listen(uri, signal, started)
        : this.#subscribe(uri, known === undefined, signal, started));
    } finally {
      listeners.delete(changed);
      if (listeners.size === 0) this.#watched.delete(uri);
      if (listeners.size === 0 && !this.#options.isStateless())
        void this.#options.ask("resources/unsubscribe", { uri }, null);
    }
  }

  updated(params: JsonObject): void {
    const uri = member(params, "uri");
    for (const changed of typeof uri === "string" ? (this.#watched.get(uri) ?? []) : []) changed();
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
  async #listen(uri: string, signal: AbortSignal, started: () => void): Promise<UpstreamResult<null>> {
    const notifications = { resourceSubscriptions: [uri] };
    started();
    const listened = await this.#options.ask("subscriptions/listen", { notifications }, signal);
    return listened.ok || signal.aborted ? OVER : listened;
  }
}

const OVER: UpstreamResult<null> = { ok: true, value: null };

/** The capability of a server that tells of changes of single resources. */
export function tellsOfResources(capabilities: JsonObject | null): boolean {
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
