// One fetch inside the broker: follows the hops, inserts secrets at the last moment and redacts them from everything
// that comes back.

import type { IncomingMessage } from "node:http";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import {
  type HeaderLine,
  headerBytesMax,
  urlParts,
  type ValueEncoding,
} from "../../../core/authority/axes/http-request.ts";
import { isRedirect } from "../../../core/authority/axes/redirect.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import type { CodedFailure } from "../../../core/base/result.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import type { Redactor, StreamRedactor } from "../../../log/redaction/redactor.ts";
import { codingsOf, readBody } from "./fetch-body.ts";
import { exchange, type HopContext, type HopRequest, reach } from "./fetch-hop.ts";
import { pieceBytesMax, piecesAheadMax } from "./fetch-limits.ts";
import type { FetchBrokerMessage, FetchMessage, Hop, HopQuestion, Method } from "./fetch-messages.ts";
import { type Outgoing, outgoingRequest, redirectRequest, urlText } from "./fetch-request.ts";
import { fill, type SecretValue } from "./handles.ts";
import { isBoundTo } from "./handles-binding.ts";
import { signRequest } from "./signing.ts";

export interface FetchContext {
  tell(message: FetchBrokerMessage): void;
  /** The daemon's decision on a hop: null to allow. */
  ask(question: Omit<HopQuestion, "kind" | "number">): Promise<DenialCode | null>;
  now(): number;
}

export type Failure = CodedFailure<DenialCode>;

export class RunningFetch {
  readonly #message: FetchMessage;
  readonly #secrets: readonly SecretValue[];
  readonly #redactor: Redactor;
  readonly #context: FetchContext;
  readonly #hop: HopContext;
  readonly #stopping = new AbortController();
  readonly #used = new Set<string>();
  readonly #seen = new Set<string>();
  #ahead = piecesAheadMax;
  #wake: (() => void) | null = null;
  #isLate = false;

  constructor(
    asked: FetchMessage,
    secrets: readonly SecretValue[],
    redactor: Redactor,
    resolve: Resolver,
    context: FetchContext,
  ) {
    this.#message = asked;
    this.#secrets = secrets;
    this.#redactor = redactor;
    this.#context = context;
    this.#hop = {
      resolve,
      stop: this.#stopping.signal,
      headerBytes: asked.limits.headerBytes,
      authorities: asked.authorities,
      ask: (method: Method, { scheme, host, port }, addresses) =>
        context.ask({ fetch: asked.number, method, scheme, host: destinationText(host), port, addresses }),
    };
  }

  more(): void {
    this.#ahead++;
    this.#wake?.();
  }

  stop(): void {
    this.#stopping.abort();
    this.#wake?.();
  }

  seen(): readonly string[] {
    return [...this.#seen];
  }

  /** The replacement of a secret may be longer than the secret. */
  clean(text: string): string {
    const { value, names } = this.#redactor.redactText(text);
    for (const name of names) this.#seen.add(name);
    return value.slice(0, headerBytesMax);
  }

  /** Headers are bytes, one per character, and are searched in that form. */
  #cleanBytes(text: string): string {
    const { value, names } = this.#redactor.redactBytes(Buffer.from(text, "latin1"));
    for (const name of names) this.#seen.add(name);
    return Buffer.from(value).toString("latin1").slice(0, headerBytesMax);
  }

  async run(): Promise<Failure | null> {
    const timer = setTimeout(() => {
      this.#isLate = true;
      this.stop();
    }, this.#message.limits.milliseconds);
    try {
      const failure = await this.#follow();
      if (failure === null || !this.#stopping.signal.aborted) return failure;
      const message = this.#isLate
        ? `it took more than ${this.#message.limits.milliseconds} milliseconds`
        : "the request was cancelled";
      return { ok: false, code: "not_available", message };
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(): Promise<Failure | null> {
    const { method, url, headers, body, limits } = this.#message;
    let made = outgoingRequest(method, url, headers, body === null ? null : Buffer.from(body, "base64"));
    const hops: Hop[] = [];
    while (made.ok) {
      const next: Outgoing = made.value;
      const answer = await this.#answer(next);
      if (!answer.ok) return answer;
      const { response } = answer;
      const status = response.statusCode ?? 0;
      hops.push({ method: next.method, url: this.clean(urlText(next.url)), status });
      const location = response.headers.location;
      if (!isRedirect(status) || location === undefined || limits.redirects === 0)
        return this.#deliver(response, next, hops);
      response.destroy();
      if (hops.length > limits.redirects)
        return { ok: false, code: "budget_exhausted", message: `there are more than ${limits.redirects} redirects` };
      made = redirectRequest(next, status, Buffer.from(location, "latin1").toString("utf8"));
    }
    return made;
  }

  /** Values are inserted only once everything is decided, and only into what is sent. */
  async #answer(next: Outgoing): Promise<{ readonly ok: true; readonly response: IncomingMessage } | Failure> {
    // A handle that cannot be filled is refused before any lookup or connection.
    const probe = this.#filled(next);
    if (!probe.ok) return probe;
    const reached = await reach(next, this.#hop);
    if (!reached.ok) return reached;
    for (const name of probe.used) this.#used.add(name);
    return exchange(reached.socket, probe.sent, this.#hop);
  }

  #filled(
    next: Outgoing,
  ): { readonly ok: true; readonly sent: HopRequest; readonly used: readonly string[] } | Failure {
    const used = new Set<string>();
    let problem: string | null = null;
    const put = (text: string, place: ValueEncoding): string => {
      const filled = fill(text, place, this.#secrets, next.url);
      if (!filled.ok) problem ??= filled.message;
      else for (const { name } of filled.used) used.add(name);
      return filled.ok ? filled.text : "";
    };
    const { path, query } = urlParts(next.url);
    const headers = withEncoding(next.headers).map(([name, value]): HeaderLine => [name, put(value, "header")]);
    const sent: HopRequest = {
      method: next.method,
      url: next.url,
      path: `${path}${next.isWritten ? put(query, "query") : query}`,
      headers,
      body:
        next.body === null ? null : Buffer.from(put(next.body.toString("latin1"), encodingOf(next.headers)), "latin1"),
    };
    const { sign } = this.#message;
    const signature = sign?.scheme === "aws-sigv4" ? { ...sign, keyId: put(sign.keyId, "header") } : sign;
    if (problem !== null) return { ok: false, code: "secret_refused", message: problem };
    if (signature === null) return { ok: true, sent, used: [...used] };
    const key = this.#secrets.find(({ name }) => name === signature.secret);
    if (key === undefined || !next.isWritten || !isBoundTo(key.hosts, next.url))
      return { ok: false, code: "secret_refused", message: `the secret ${signature.secret} is not for this address` };
    const result = signRequest(sent, signature, key.value, this.#context.now());
    if (!result.ok) return { ok: false, code: "secret_refused", message: result.message };
    return { ok: true, sent: result.sent, used: [...used.add(key.name)] };
  }

  async #deliver(response: IncomingMessage, { url, method }: Outgoing, hops: readonly Hop[]): Promise<Failure | null> {
    const { number, limits } = this.#message;
    const codings = codingsOf(response, method);
    if (codings === null) {
      response.destroy();
      return { ok: false, code: "not_available", message: "the content encoding of the body is not supported" };
    }
    this.#stopping.signal.addEventListener("abort", () => response.destroy(), { once: true });
    this.#context.tell({
      kind: "fetch-head",
      number,
      status: response.statusCode ?? 0,
      url: this.clean(urlText(url)),
      headers: this.#headers(response, codings.length > 0),
      hops,
      used: [...this.#used],
    });
    const redacting = this.#redactor.stream();
    const end = await readBody(response, codings, limits.bodyBytes, (bytes) => this.#send(redacting.write(bytes)));
    // The buffered tail of a truncated body is dropped: it may be the beginning of a secret.
    if (end === null) await this.#send(redacting.end());
    this.#note(redacting);
    return end === null ? null : { ok: false, ...end };
  }

  #note(redacting: StreamRedactor): void {
    for (const name of redacting.names()) this.#seen.add(name);
  }

  #headers(response: IncomingMessage, isDecoded: boolean): readonly HeaderLine[] {
    const lines: HeaderLine[] = [];
    for (let at = 0; at + 1 < response.rawHeaders.length; at += 2) {
      const name = response.rawHeaders[at] as string;
      const lower = name.toLowerCase();
      if (lower === "transfer-encoding" || lower === "connection" || lower === "keep-alive") continue;
      if (isDecoded && (lower === "content-encoding" || lower === "content-length")) continue;
      lines.push([this.clean(lower), this.#cleanBytes(response.rawHeaders[at + 1] as string)]);
    }
    return lines;
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytesMax) {
      while (this.#ahead <= 0 && !this.#stopping.signal.aborted)
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      if (this.#stopping.signal.aborted) throw new Error("the request was cancelled");
      this.#ahead--;
      const piece = Buffer.from(bytes.subarray(at, at + pieceBytesMax));
      this.#context.tell({ kind: "fetch-bytes", number: this.#message.number, bytes: piece.toString("base64") });
    }
  }
}

/** Accepts only encodings that can be decoded here. */
function withEncoding(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const others = headers.filter(([name]) => name.toLowerCase() !== "accept-encoding");
  return [...others, ["Accept-Encoding", "gzip, deflate, br"]];
}

function encodingOf(headers: readonly HeaderLine[]): ValueEncoding {
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1].toLowerCase() ?? "";
  if (/^[^;]*[/+]json\s*(;|$)/.test(type)) return "json";
  return type.startsWith("application/x-www-form-urlencoded") ? "form" : "plain";
}
