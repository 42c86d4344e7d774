// One call at a server, over as many rounds as it needs: the client is asked, comes back with answers, and the server goes on.
// Between two rounds no client listens; the call is cancelled when none comes back in time.
import { onAbort } from "../../core/base/abort.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { withHiddenShown } from "../../gateway/pins.ts";
import type { CallClient } from "../calls/call-client.ts";
import { type CallEvents, LOG_LEVELS, type ServerAsk } from "./call-events.ts";
import type { UpstreamResult } from "./server-message.ts";

export interface OpenCallOptions {
  readonly server: string;
  readonly redacted: <T extends Json>(value: T) => T;
  /** Why the server may not ask for this now; null where it may. `params`: what the client is shown. */
  accept(ask: ServerAsk): { readonly params: JsonObject } | { readonly why: string };
  start(notifications: CallEvents, signal: AbortSignal): Promise<UpstreamResult<JsonObject>>;
}

export interface AcceptedAsk {
  readonly ask: ServerAsk;
  readonly params: JsonObject;
}

const progressMax = 200;
const logsMax = 100;
const messageCharactersMax = 500;
const logCharactersMax = 4_096;

export class OpenCall implements CallEvents {
  readonly #options: OpenCallOptions;
  readonly #controller = new AbortController();
  /** What the server waits for, by our own key. */
  readonly asks: Map<string, AcceptedAsk> = new Map();
  #client: CallClient | null;
  #asked = 0;
  #progress = 0;
  #logs = 0;
  #wake: () => void = () => undefined;
  #answer: UpstreamResult<JsonObject> | null = null;
  readonly over: Promise<UpstreamResult<JsonObject>>;
  /** What is wanted is told to the server once, at the beginning. */
  readonly isProgressWanted: boolean;
  readonly logLevel: string | null;

  constructor(client: CallClient | null, options: OpenCallOptions) {
    this.#options = options;
    this.#client = client;
    this.isProgressWanted = client?.isProgressWanted === true;
    this.logLevel = client?.logLevel ?? null;
    this.over = options.start(this, this.#controller.signal).then((answer) => {
      this.#answer = answer;
      this.#client = null;
      this.#wake();
      return answer;
    });
  }

  /** The answer of the server; null where it needs input first. */
  async round(client: CallClient | null, signal: AbortSignal): Promise<UpstreamResult<JsonObject> | null> {
    this.#client = client;
    const release = onAbort(signal, () => this.cancel());
    try {
      while (this.#answer === null && this.asks.size === 0)
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      return this.#answer;
    } finally {
      release();
      this.#client = null;
    }
  }

  cancel(): void {
    this.#controller.abort();
  }

  asked(ask: ServerAsk): void {
    const accepted = this.#options.accept(ask);
    if ("why" in accepted) {
      ask.refuse(accepted.why);
      return;
    }
    const key = `ask-${++this.#asked}`;
    ask.onDropped = () => void this.asks.delete(key);
    this.asks.set(key, { ask, params: accepted.params });
    this.#wake();
  }

  progressed(params: JsonObject): void {
    if (!this.isProgressWanted || ++this.#progress > progressMax) return;
    const [progress, total, message] = ["progress", "total", "message"].map((key) => member(params, key));
    if (typeof progress !== "number") return;
    const told = {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message: this.#shown(message, messageCharactersMax) } : {}),
    };
    this.#client?.tell({ progress: told });
  }

  /** A message names the server, whatever it calls itself. */
  logged(params: JsonObject): boolean {
    const [level, logger, data] = ["level", "logger", "data"].map((key) => member(params, key));
    const wanted = this.logLevel === null ? -1 : LOG_LEVELS.indexOf(this.logLevel);
    if (wanted < 0 || typeof level !== "string" || LOG_LEVELS.indexOf(level) < wanted || data === undefined)
      return false;
    if (this.#client === null) return false;
    if (++this.#logs > logsMax) return true;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const own = typeof logger === "string" && logger !== "" ? `/${this.#shown(logger, 64)}` : "";
    const shown = this.#shown(text, logCharactersMax);
    const more = this.#logs === logsMax ? " [further messages of this call are not shown]" : "";
    this.#client.tell({ log: { level, logger: `${this.#options.server}${own}`, data: `${shown}${more}` } });
    return true;
  }

  #shown(text: string, charactersMax: number): string {
    const whole = this.#options.redacted(text);
    const cut = whole.length > charactersMax ? `${whole.slice(0, charactersMax)} [cut]` : whole;
    return withHiddenShown(cut);
  }
}

/** A result that needs input first, in the newer era; null for a complete one. */
export function inputIn(result: JsonObject): { readonly requests: JsonObject; readonly state: string | null } | null {
  if (member(result, "resultType") !== "input_required") return null;
  const [requests, state] = [member(result, "inputRequests"), member(result, "requestState")];
  return { requests: isJsonObject(requests) ? requests : {}, state: typeof state === "string" ? state : null };
}
