// Fetches from the daemon's side: every hop is decided here, and the body arrives in chunks with backpressure.

import { type Destination, parseHost } from "../../../core/authority/axes/destination.ts";
import type { HeaderLine } from "../../../core/authority/axes/http-request.ts";
import type { RequestSignature } from "../../../core/authority/axes/request-signature.ts";
import type { Decision, DenialCode } from "../../../core/authority/decision.ts";
import type { Request } from "../../../core/authority/request.ts";
import { parseAddress } from "../../../core/base/address.ts";
import type { CodedFailure } from "../../../core/base/result.ts";
import type { FetchSecret } from "../../../core/ports/instruments.ts";
import type { JudgeAnswer } from "../messages.ts";
import { toAscii } from "../names/ascii.ts";
import type { ResolverChoice } from "../names/resolver.ts";
import type {
  FetchBrokerMessage,
  FetchEnd,
  FetchLimits,
  FetchMessage,
  FetchMessageToBroker,
  Hop,
  HopQuestion,
  Method,
} from "./fetch-messages.ts";
import { fetchRequest } from "./fetch-request.ts";

export interface FetchOptions {
  readonly method: Method;
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array | null;
  readonly limits: FetchLimits;
  readonly resolver: ResolverChoice;
  /** Called for every hop: once for the name, and once for each resolved address. Charges no budget. */
  judge(request: Request): Decision | Promise<Decision>;
  /**
   * Only those that were decided on. They appear as `{{secret:name}}` in header values, in the query or in the body.
   */
  readonly secrets: readonly FetchSecret[];
  readonly sign: RequestSignature | null;
  readonly stop: AbortSignal | null;
}

export type FetchFailure = CodedFailure<DenialCode>;

/** How the body ended. A body that did not end well is incomplete, however much of it arrived. */
export type FetchBodyEnd = ({ readonly ok: true } | FetchFailure) & {
  /** Secrets that came back and were redacted. */
  readonly seen: readonly string[];
};

export type FetchResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly url: string;
      readonly headers: readonly HeaderLine[];
      /** Readable once. Leaving it early stops the fetch. */
      readonly body: AsyncIterable<Uint8Array>;
      /** Settles when the body was read, or the fetch was stopped. */
      readonly end: Promise<FetchBodyEnd>;
      readonly hops: readonly Hop[];
      readonly used: readonly string[];
    }
  | FetchFailure;

export class FetchClient {
  readonly #wish: FetchOptions;
  readonly #number: number;
  readonly #send: (message: FetchMessageToBroker) => void;
  readonly #over: () => void;
  readonly #pieces: Uint8Array[] = [];
  readonly #fetched: Promise<FetchResult>;
  readonly #ended: Promise<FetchBodyEnd>;
  #giveFetched: (fetched: FetchResult) => void = () => undefined;
  #giveEnd: (end: FetchBodyEnd) => void = () => undefined;
  #end: FetchBodyEnd | null = null;
  #wake: (() => void) | null = null;

  /** `over`: called once, when no message will follow. */
  constructor(wish: FetchOptions, number: number, send: (message: FetchMessageToBroker) => void, over: () => void) {
    this.#wish = wish;
    this.#number = number;
    this.#send = send;
    this.#over = over;
    this.#fetched = new Promise((give) => {
      this.#giveFetched = give;
    });
    this.#ended = new Promise((give) => {
      this.#giveEnd = give;
    });
  }

  start(authorities: string | null): Promise<FetchResult> {
    const { method, url, headers, body, limits, resolver, secrets, sign, stop } = this.#wish;
    const base64 = (bytes: Uint8Array): string =>
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    const message: FetchMessage = {
      kind: "fetch",
      number: this.#number,
      method,
      url,
      headers,
      body: body === null ? null : base64(body),
      limits,
      secrets: secrets.map(({ value, ...secret }) => ({ ...secret, value: base64(value) })),
      sign,
      resolver,
      authorities,
    };
    if (stop?.aborted === true) this.#finish(STOPPED);
    else {
      stop?.addEventListener("abort", this.#stopped, { once: true });
      this.#send(message);
    }
    return this.#fetched;
  }

  take(message: Exclude<FetchBrokerMessage, HopQuestion>): void {
    if (this.#end !== null) return;
    switch (message.kind) {
      case "fetch-head": {
        const { status, url, headers, hops, used } = message;
        this.#giveFetched({ ok: true, status, url, headers, body: this.#body(), end: this.#ended, hops, used });
        return;
      }
      case "fetch-bytes":
        this.#pieces.push(Buffer.from(message.bytes, "base64"));
        this.#wake?.();
        return;
      case "fetch-end":
        this.#finish(endOf(message));
        return;
      default:
        message satisfies never;
    }
  }

  /** The fetch fails: the broker is gone, or was never asked. */
  refused(code: DenialCode, message: string): void {
    this.#finish({ ok: false, code, message, seen: [] });
  }

  async judged(hopping: HopQuestion): Promise<JudgeAnswer> {
    const { number } = hopping;
    const code = this.#end === null ? await judgedHop(this.#wish, hopping) : "not_available";
    return { kind: "decision", number, outcome: code === null ? "allow" : "deny", code };
  }

  readonly #stopped = (): void => {
    this.#send({ kind: "fetch-stop", number: this.#number });
    this.#finish(STOPPED);
  };

  #finish(end: FetchBodyEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#wish.stop?.removeEventListener("abort", this.#stopped);
    if (!end.ok) this.#giveFetched({ ok: false, code: end.code, message: end.message });
    this.#giveEnd(end);
    this.#wake?.();
    this.#over();
  }

  async *#body(): AsyncIterable<Uint8Array> {
    try {
      while (true) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          if (this.#end === null) this.#send({ kind: "fetch-more", number: this.#number });
          yield piece;
        } else if (this.#end !== null) return;
        else
          await new Promise<void>((wake) => {
            this.#wake = wake;
          });
      }
    } finally {
      if (this.#end === null) this.#stopped();
    }
  }
}

const STOPPED: FetchBodyEnd = { ok: false, code: "not_available", message: "the request was cancelled", seen: [] };

function endOf({ code, message, seen }: FetchEnd): FetchBodyEnd {
  return code === null ? { ok: true, seen } : { ok: false, code, message, seen };
}

/** Null to allow. A host that does not parse, a judge that fails, one denied address: denied. */
async function judgedHop(wish: FetchOptions, hopping: HopQuestion): Promise<DenialCode | null> {
  const { method, scheme, host, port, addresses } = hopping;
  const parsed = parseHost(host, toAscii);
  if (!parsed.ok) return "not_available";
  try {
    if (addresses === null) return codeOf(await wish.judge(fetchRequest(method, scheme, parsed.value, port)));
    if (parsed.value.name === null) return "address_refused";
    if (addresses.length === 0) return "not_available";
    for (const text of addresses) {
      const address = parseAddress(text);
      if (address === null) return "address_refused";
      const led: Destination = { name: parsed.value.name, address };
      const decision = await wish.judge(fetchRequest(method, scheme, led, port));
      if (decision.outcome === "deny") return "address_refused";
      if (decision.outcome === "ask") return "approval_required";
    }
    return null;
  } catch {
    return "not_available";
  }
}

function codeOf(decision: Decision): DenialCode | null {
  if (decision.outcome === "deny") return decision.code;
  return decision.outcome === "ask" ? "approval_required" : null;
}
