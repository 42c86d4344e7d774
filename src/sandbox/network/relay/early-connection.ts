// A connection to a provider that is opened while the daemon decides about the request. It carries one request or none, and
// nothing but the handshake before the decision.
import type { Socket } from "node:net";
import type { Url } from "../../../core/authority/axes/url.ts";
import { type HopContext, reach } from "../fetch/fetch-hop.ts";
import { originText } from "../fetch/fetch-request.ts";

/** A decision that takes longer waits for a person; a provider closes a connection without a request. */
const earlyMillisecondsMax = 2_000;

export class EarlyConnection {
  readonly #url: Url;
  readonly #drop = new AbortController();
  readonly #reaching: ReturnType<typeof reach>;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket | null = null;

  /** Dropped when the context's `stop` is aborted. */
  constructor(url: Url, context: HopContext) {
    this.#url = url;
    this.#timer = setTimeout(() => this.drop(), earlyMillisecondsMax);
    const stop = AbortSignal.any([context.stop, this.#drop.signal]);
    this.#reaching = reach({ url, method: "POST" }, { ...context, stop });
    void this.#reaching.then((reached) => {
      if (!reached.ok) return;
      const { socket } = reached;
      if (stop.aborted) return void socket.destroy();
      this.#socket = socket;
      stop.addEventListener("abort", this.#close, { once: true });
      // A provider that closes it, or that speaks first, is noticed before a request is sent.
      for (const event of ["data", "end"]) socket.on(event, this.#close);
      socket.resume();
    });
  }

  /** For a request to this address, once. Null: it has none, and another must be opened. */
  async take(url: Url): Promise<Socket | null> {
    if (originText(url) !== originText(this.#url)) return null;
    await this.#reaching;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null || socket.destroyed) return null;
    for (const event of ["data", "end"]) socket.off(event, this.#close);
    return socket.pause();
  }

  /** Closes it unless it was taken. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#drop.abort();
  }

  readonly #close = (): void => {
    this.#socket?.destroy();
  };
}
