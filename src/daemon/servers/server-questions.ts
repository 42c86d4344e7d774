// What a server asks of us in the middle of its work: pings, its roots, and input for the call that it works on. Everything else
// is refused. A server that asks without end is at fault.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { askKind, ROOTS_METHOD } from "../../gateway/asks.ts";
import type { CallEvents, ServerAsk, ServerOffers } from "./call-events.ts";

export interface ServerQuestionsOptions {
  readonly offers: ServerOffers;
  say(message: JsonObject): void;
  /** The call that the server works on, the oldest of several; null where it works on none. */
  receiving(): { readonly id: number; readonly events: CallEvents } | null;
  /** The time of a call does not run while the server waits for an answer of ours. */
  hold(call: number, isHeld: boolean): void;
  refused(method: string, code: DenialCode): void;
}

interface OpenAsk {
  readonly of: number;
  readonly ask: ServerAsk;
}

const METHOD_NOT_FOUND = -32_601;
/** Of the codes that are left to implementations. */
const REFUSED = -32_000;
/** In a minute: each answer is a request over HTTP, with a secret that is counted. */
const pingsMax = 30;
const asksMax = 20;
const asksOpenMax = 8;
const windowMilliseconds = 60_000;
const refusedMethodsMax = 16;

export class ServerQuestions {
  readonly #options: ServerQuestionsOptions;
  readonly #asks = new Map<string, OpenAsk>();
  readonly #pings = new Allowance(pingsMax);
  readonly #asked = new Allowance(asksMax);
  readonly #refusals = new Set<string>();

  constructor(options: ServerQuestionsOptions) {
    this.#options = options;
  }

  /** How the server broke the protocol by asking; null where it did not. */
  request(method: string, id: Json, params: Json | undefined): string | null {
    const { offers, say } = this.#options;
    if (typeof id !== "string" && typeof id !== "number") return "a request has no id";
    if (method === "ping" || (method === ROOTS_METHOD && offers.roots !== null)) {
      if (!this.#pings.take()) return "it sends too many pings";
      say({ jsonrpc: "2.0", id, result: method === "ping" ? {} : rootsResult(offers) });
      return null;
    }
    const kind = askKind(method);
    if (kind === null || !offers.asks.has(kind)) {
      this.#refuse(method, id, METHOD_NOT_FOUND, "ambit does not offer this", "not_available");
      return `it asks for ${method.slice(0, 64)}, which was not offered`;
    }
    if (!this.#asked.take() || this.#asks.size >= asksOpenMax) {
      this.#refuse(method, id, REFUSED, "too many requests", "budget_exhausted");
      return "it sends too many requests";
    }
    const key = JSON.stringify(id);
    if (this.#asks.has(key)) return "it reuses the id of an open request";
    // INVARIANT: a connection belongs to one session, so whichever of its calls the server means, the same client answers.
    const receiving = this.#options.receiving();
    if (receiving === null) {
      this.#refuse(method, id, REFUSED, "no call is open that this request could belong to", "not_available");
      return null;
    }
    const answer = (reply: JsonObject): void => {
      if (!this.#asks.has(key)) return;
      say({ jsonrpc: "2.0", id, ...reply });
      this.#close(key);
    };
    const ask: ServerAsk = {
      ...{ kind, params, onDropped: () => undefined },
      give: (result) => answer({ result }),
      refuse: (message) => answer({ error: { code: REFUSED, message } }),
    };
    this.#asks.set(key, { of: receiving.id, ask });
    this.#options.hold(receiving.id, true);
    receiving.events.asked(ask);
    return null;
  }

  /** The server does not want the answer any more. */
  dropped(id: Json | undefined): void {
    const key = JSON.stringify(id ?? null);
    const open = this.#asks.get(key);
    if (open === undefined) return;
    this.#close(key);
    open.ask.onDropped();
  }

  /** The call is answered: what the server asked for it is not wanted any more. */
  settled(call: number): void {
    for (const [key, { of, ask }] of this.#asks) if (of === call && this.#asks.delete(key)) ask.onDropped();
  }

  /** Reported once for each method and reason: a server must not be able to fill the log. */
  refused(method: string, code: DenialCode): void {
    const name = /^[a-zA-Z/_]{1,64}$/.test(method) ? method : "(another method)";
    const key = `${name} ${code}`;
    if (this.#refusals.has(key) || this.#refusals.size >= refusedMethodsMax) return;
    this.#refusals.add(key);
    this.#options.refused(name, code);
  }

  #close(key: string): void {
    const of = this.#asks.get(key)?.of;
    this.#asks.delete(key);
    if (of !== undefined && ![...this.#asks.values()].some((one) => one.of === of)) this.#options.hold(of, false);
  }

  #refuse(method: string, id: string | number, code: number, message: string, why: DenialCode): void {
    this.#options.say({ jsonrpc: "2.0", id, error: { code, message } });
    this.refused(method, why);
  }
}

export function rootsResult({ roots }: Pick<ServerOffers, "roots">): JsonObject {
  return { roots: (roots ?? []).map((uri) => ({ uri })) };
}

/** So many in a minute. */
class Allowance {
  readonly #max: number;
  #since = 0;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(): boolean {
    const now = performance.now();
    if (now - this.#since > windowMilliseconds) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= this.#max;
  }
}
