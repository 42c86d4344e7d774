// The model relay of one sandbox: an HTTP server in the sandbox's own network. It drops every credential the client sends,
// asks the daemon, adds the credential that the daemon hands out for this one request, and passes the answer on as it comes.
// INVARIANT: a credential goes to the address that came with it, over a connection that carries this one request, and nowhere else.

import { createHash } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import { type HeaderLine, urlParts } from "../../../core/authority/axes/http-request.ts";
import type { Url } from "../../../core/authority/axes/url.ts";
import type { DenialCode } from "../../../core/authority/decision.ts";
import type { Json, JsonObject } from "../../../core/base/json.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../../core/notation/config/model-setting.ts";
import type { DoorAnswer, DoorCall } from "../../../core/ports/daemon/door.ts";
import type { Resolver } from "../../../core/ports/resolver.ts";
import { type Redactor, redactorOf } from "../../../log/redaction/redactor.ts";
import { exchange, type HopContext, reach } from "../fetch/fetch-hop.ts";
import { outgoingRequest } from "../fetch/fetch-request.ts";
import { connectRequest, NetworkGrants, readChains } from "../network-grants.ts";
import { doorCallsMax, isDoorTarget, serveDoor } from "./door.ts";
import { EarlyConnection } from "./early-connection.ts";
import { pass, refuse } from "./relay-answer.ts";
import { type BodyFault, ByteBudget, receiveBody, sandboxBodyBytesMax } from "./relay-body.ts";
import { withOutputLimit } from "./relay-estimate.ts";
import type { RelayAnswer, RelayQuestion, RelayReport, RelayUpstream } from "./relay-messages.ts";
import {
  carriesForeignCredential,
  conversationEnd,
  type ModelCall,
  modelCall,
  modelOf,
  providerOf,
} from "./relay-request.ts";
import { UsageCounter } from "./relay-usage.ts";

export type RelayedCall = Omit<RelayQuestion, "kind" | "number" | "sandbox">;

export interface RelayContext {
  readonly resolve: Resolver;
  /** Aborted when the sandbox ends. */
  readonly stop: AbortSignal;
  now(): number;
  /** Null: the daemon did not respond. */
  ask(call: RelayedCall): Promise<RelayAnswer | null>;
  /** The relay itself refused a request. `request`: in the notation of `ambit can`. */
  refused(code: DenialCode, request: string): void;
  /** A program asks its session; null: the daemon did not respond. */
  door(call: DoorCall): Promise<DoorAnswer | null>;
  /** For bodies of all sandboxes. */
  readonly bodies: ByteBudget;
  report(report: Omit<RelayReport, "kind">): void;
}

const headerBytesMax = 32_768;
const callsMax = 32;
/** Without a byte of the provider. */
const idleMillisecondsMax = 600_000;
/** Without a byte in either direction. Longer, so that the client still reads that the provider was silent. */
const clientIdleMillisecondsMax = 660_000;

/** INVARIANT: without the parsed body, which would stay on the shared heap until the answer ends. */
type AdmittedCall = Omit<Extract<ModelCall, { readonly ok: true }>, "body">;

type Admission =
  | { readonly ok: true; readonly call: AdmittedCall; readonly body: Buffer }
  | {
      readonly ok: false;
      readonly status: BodyFault["status"] | Extract<ModelCall, { readonly ok: false }>["status"];
      readonly message: string;
      readonly model: string | null;
    };

export class ModelRelay {
  readonly #context: RelayContext;
  readonly #server: http.Server;
  readonly #bodies: ByteBudget;
  readonly #idleMilliseconds: number;
  /** Where the last request went that was let through; none after a denial. */
  readonly #reached = new Map<ModelProvider, Url>();
  #calls = 0;
  #doorCalls = 0;

  constructor(context: RelayContext, idleMilliseconds: number = idleMillisecondsMax) {
    this.#context = context;
    this.#bodies = new ByteBudget(sandboxBodyBytesMax, context.bodies);
    this.#idleMilliseconds = idleMilliseconds;
    this.#server = http.createServer(
      { maxHeaderSize: headerBytesMax, insecureHTTPParser: false },
      (request, response) => {
        void this.#serve(request, response).catch(() => response.destroy());
      },
    );
    this.#server.on("upgrade", (_request, socket) => socket.destroy());
    this.#server.on("connect", (_request, socket) => socket.destroy());
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** A connection that a program of the sandbox opened. Resolves when it is over. */
  accept(socket: Socket): Promise<void> {
    const { stop } = this.#context;
    const end = (): void => void socket.destroy();
    const closed = new Promise<void>((done) => {
      socket.once("close", () => {
        stop.removeEventListener("abort", end);
        done();
      });
    });
    stop.addEventListener("abort", end, { once: true });
    socket.setTimeout(clientIdleMillisecondsMax, end);
    this.#server.emit("connection", socket);
    socket.resume();
    return closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "";
    if (isDoorTarget(target)) return this.#door(request, response);
    const provider = providerOf(target);
    if (provider === null) {
      this.#context.refused("invalid_input", "model.use");
      return refuse(response, "anthropic", 404, `a target begins with ${PREFIXES}`);
    }
    if (this.#calls >= callsMax) {
      this.#context.refused("budget_exhausted", `model.use ${provider}`);
      return refuse(response, provider, 403, `more than ${callsMax} requests at once`);
    }
    this.#calls++;
    const held = { bytes: 0 };
    try {
      const admission = await this.#admit(request, target, provider, held);
      if (admission.ok) return await this.#relay(request, response, admission.call, admission.body);
      const { status, message, model } = admission;
      const isLimit = status === 413 || status === 503;
      const use = model === null ? `model.use ${provider}` : `model.use ${provider} ${model}`;
      this.#context.refused(isLimit ? "budget_exhausted" : "invalid_input", use);
      refuse(response, provider, status, message);
    } finally {
      this.#calls--;
      this.#bodies.release(held.bytes);
    }
  }

  async #door(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#doorCalls >= doorCallsMax) {
      response.writeHead(429).end(`more than ${doorCallsMax} requests at once\n`);
      return;
    }
    this.#doorCalls++;
    try {
      await serveDoor(request, response, this.#bodies, (call) => this.#context.door(call));
    } finally {
      this.#doorCalls--;
    }
  }

  async #admit(
    request: IncomingMessage,
    target: string,
    provider: ModelProvider,
    held: { bytes: number },
  ): Promise<Admission> {
    const received = await receiveBody(request, this.#bodies, held);
    if (!received.ok) return { ...received, model: null };
    const { length } = received.body;
    const text = received.body.toString("utf8");
    await turn(length);
    const written = parsed(text);
    await turn(length);
    const call = modelCall(request.method ?? "", target, provider, written, length);
    if (!call.ok) return { ...call, model: modelOf(provider, target, written) };
    await turn(length);
    const { body, estimate, ...admitted } = call;
    const sent = await serialized(body, length);
    // What is sent can be longer than what was received: `1e20` is serialised with all of its digits.
    const inputTokens = estimate.inputTokens + Math.max(0, sent.length - length);
    return { ok: true, call: { ...admitted, estimate: { ...estimate, inputTokens } }, body: sent };
  }

  async #relay(request: IncomingMessage, response: ServerResponse, call: AdmittedCall, body: Buffer): Promise<void> {
    const { provider, model, estimate } = call;
    await turn(body.length);
    const digest = createHash("sha256").update(body).digest("hex");
    const began = this.#context.now();
    // The client may have hung up, or the sandbox ended, before the whole request was read.
    if (response.destroyed || this.#context.stop.aborted) return;
    const stopping = new AbortController();
    const stop = (): void => stopping.abort();
    this.#context.stop.addEventListener("abort", stop, { once: true });
    response.once("close", stop);
    const hasForeignCredential = carriesForeignCredential(request);
    const asked = { provider, model, digest, bytes: body.length, hasForeignCredential, ...estimate };
    const asking = this.#context.ask(asked);
    const early = this.#openEarly(provider, stopping.signal);
    try {
      const answer = await asking;
      if (answer?.upstream) {
        const sending = { upstream: answer.upstream, early, stopping, began };
        return await this.#answered(request, response, { call, body, answer, ...sending });
      }
      this.#reached.delete(provider);
      const message = answer === null ? "the daemon did not respond" : `${answer.message} (${answer.code ?? "denied"})`;
      refuse(response, provider, 403, message);
    } finally {
      early?.drop();
      this.#context.stop.removeEventListener("abort", stop);
      response.removeListener("close", stop);
    }
  }

  /** INVARIANT: only where the sandbox's last request to the provider was let through, and only to its address. */
  #openEarly(provider: ModelProvider, stop: AbortSignal): EarlyConnection | null {
    const url = this.#reached.get(provider);
    return url === undefined ? null : new EarlyConnection(url, this.#hop(url, stop));
  }

  async #answered(request: IncomingMessage, response: ServerResponse, allowed: AllowedCall): Promise<void> {
    const { call, body, answer, upstream, early, stopping, began } = allowed;
    const { outputTokens } = answer;
    const outcome: SendOutcome = { isSent: false, status: 0, isWhole: false, usage: null };
    try {
      const sent = outputTokens === null ? body : await limitedBody(call, body, outputTokens);
      await this.#send(request, response, { call, body: sent, upstream, early, stopping, outcome });
    } finally {
      const { isSent, status, isWhole } = outcome;
      const found = outcome.usage?.end() ?? null;
      this.#context.report({
        ...{ number: answer.number, isSent, status, isWhole },
        // What a broken answer counted is not all that was generated.
        ...{ input: found?.input ?? null, output: isWhole ? (found?.output ?? null) : null },
        ...{ cacheRead: found?.cacheRead ?? 0, cacheWrite: found?.cacheWrite ?? 0 },
        milliseconds: Math.max(0, Math.round(this.#context.now() - began)),
        prompt: upstream.keepsPrompt ? conversationEnd(JSON.parse(body.toString("utf8")) as JsonObject) : null,
      });
    }
  }

  async #send(request: IncomingMessage, response: ServerResponse, sending: Sending): Promise<void> {
    const { call, body, upstream, early, stopping, outcome } = sending;
    const { provider } = call;
    // The client may have hung up, or the sandbox ended, while the daemon decided.
    if (response.destroyed || this.#context.stop.aborted) return;
    const secret = Buffer.from(upstream.value, "base64");
    const made = redactorOf([{ name: "model", bytes: secret }]);
    const credential: HeaderLine = [upstream.header, `${upstream.prefix}${secret.toString("latin1")}`];
    secret.fill(0);
    if (!made.ok) return refuse(response, provider, 403, "the stored credential cannot be used");
    const redactor: Redactor = made.redactor;
    try {
      const next = outgoingRequest(
        "POST",
        `${upstream.url.replace(/\/$/, "")}${call.path}`,
        passedHeaders(request),
        body,
      );
      if (!next.ok) return refuse(response, provider, 400, next.message);
      this.#reached.set(provider, next.value.url);
      const hop = this.#hop(next.value.url, stopping.signal);
      const socket = (await early?.take(next.value.url)) ?? null;
      const reached = socket === null ? await reach(next.value, hop) : { ok: true as const, socket };
      if (!reached.ok) return refuse(response, provider, 502, redactor.redactText(reached.message).value);
      const { path, query } = urlParts(next.value.url);
      const headers = [...next.value.headers, credential, ["accept-encoding", "identity"] as const];
      const sent = { method: "POST", url: next.value.url, path: `${path}${query}`, headers, body } as const;
      let isSilent = false;
      reached.socket.setTimeout(this.#idleMilliseconds, () => {
        isSilent = true;
        stopping.abort();
      });
      outcome.isSent = true;
      const answering = exchange(reached.socket, sent, hop);
      // The patterns of the credential are made while the provider works, not before its first byte is passed on.
      await new Promise((next) => setImmediate(next));
      const clean = redactor.stream();
      const answered = await answering;
      if (!answered.ok) {
        const message = isSilent ? "the provider sent nothing for too long" : answered.message;
        return refuse(response, provider, 502, redactor.redactText(message).value);
      }
      outcome.status = answered.response.statusCode ?? 0;
      const type = answered.response.headers["content-type"] ?? "";
      const usage = new UsageCounter(provider, /^text\/event-stream\b/i.test(type));
      outcome.usage = usage;
      outcome.isWhole = await pass(answered.response, response, {
        ...{ redactor, clean, usage, provider, stop: stopping.signal },
      });
    } finally {
      redactor.forget();
    }
  }

  /** The daemon named the address: what remains is that its name leads to no special address. */
  #hop(url: Url, stop: AbortSignal): HopContext {
    const denied: DenialCode = "address_refused";
    return {
      ...{ resolve: this.#context.resolve, stop, headerBytes: headerBytesMax, authorities: null },
      ask: async (_method, _url, addresses) => {
        if (addresses === null) return null;
        const chains = readChains([[[`net.connect{hosts=[${destinationText(url.host)}],ports=[${url.port}]}`]]]);
        const grants = chains === null ? null : new NetworkGrants(chains, () => this.#context.now());
        const screened = grants?.screen(connectRequest(url.host, url.port, "sni"), addresses);
        return screened?.decision.outcome === "allow" ? null : denied;
      },
    };
  }
}

/** A request that the daemon let through. */
interface AllowedCall {
  readonly call: AdmittedCall;
  readonly body: Buffer;
  readonly answer: RelayAnswer;
  readonly upstream: RelayUpstream;
  readonly early: EarlyConnection | null;
  /** Aborted when the client hangs up or the sandbox ends. */
  readonly stopping: AbortController;
  readonly began: number;
}

interface Sending extends Omit<AllowedCall, "answer" | "began"> {
  readonly outcome: SendOutcome;
}

interface SendOutcome {
  isSent: boolean;
  status: number;
  isWhole: boolean;
  usage: UsageCounter | null;
}

/** Parsed again: the parsed body is not held while the daemon decides, and few requests are limited. */
async function limitedBody({ provider, path }: AdmittedCall, body: Buffer, tokens: number): Promise<Buffer> {
  const text = body.toString("utf8");
  await turn(body.length);
  const parsed = JSON.parse(text) as JsonObject;
  await turn(body.length);
  return serialized(withOutputLimit(provider, path, parsed, tokens), body.length);
}

async function serialized(body: JsonObject, length: number): Promise<Buffer> {
  const text = JSON.stringify(body);
  await turn(length);
  return Buffer.from(text);
}

const turnBytesMin = 262_144;

/** Lets other sandboxes have their turn of the event loop between the steps of a large body. */
function turn(bytes: number): Promise<void> | null {
  return bytes < turnBytesMin ? null : new Promise((next) => setImmediate(next));
}

const PREFIXES = MODEL_PROVIDERS.map((one) => `/${one}/`).join(", ");

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Headers that describe the client and its request. INVARIANT: none that can carry a credential is on the list. */
const PASSED =
  /^(accept|user-agent|anthropic-version|anthropic-beta|openai-beta|originator|x-app|x-stainless-[a-z-]+)$/;

function passedHeaders(request: IncomingMessage): readonly HeaderLine[] {
  const lines: HeaderLine[] = [["content-type", "application/json"]];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const [name, value] = [request.rawHeaders[at] as string, request.rawHeaders[at + 1] as string];
    if (PASSED.test(name.toLowerCase())) lines.push([name.toLowerCase(), value]);
  }
  return lines;
}
