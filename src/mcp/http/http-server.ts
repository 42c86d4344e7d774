// The HTTP server: who may speak, and how much. A request passes the checks of its Host, Origin, path, method and token, in this
// order, before a byte of its body is read. Every answer of a session is made elsewhere.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isLegacyRequest } from "@modelcontextprotocol/server";
import type { Json } from "../../core/base/json.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { errorResponse, INVALID_REQUEST, PARSE_ERROR } from "../json-rpc.ts";
import { isBounded } from "../request-params.ts";
import type { HttpSessions } from "./http-sessions.ts";
import {
  bodyBytesMax,
  connectionsMax,
  exchangesMax,
  exchangesOfTokenMax,
  requestMilliseconds,
  sweepMilliseconds,
} from "./limits.ts";
import { errorAnswer, readBody, sendResponse, webRequest } from "./web-exchange.ts";

export interface HttpServerOptions {
  readonly sessions: HttpSessions;
  /** Whether the token holds now. */
  check(token: string): Promise<Answer<object>>;
}

export const httpPath = "/mcp";
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"]);
const ONCE: readonly string[] = ["host", "origin", "authorization", "mcp-session-id", "content-type"];
const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,256}=*)$/i;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #running = new Map<string, number>();
  #all = 0;
  #port = 0;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: requestMilliseconds, headersTimeout: requestMilliseconds });
    this.#server.maxConnections = connectionsMax;
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("clientError", (_, socket) => socket.destroy());
  }

  /** The port it listens at; rejects where it cannot. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((ready, failed) => {
      this.#server.once("error", failed);
      this.#server.listen(port, host, ready);
    });
    const address = this.#server.address();
    this.#port = typeof address === "object" && address !== null ? address.port : port;
    this.#sweeping = setInterval(() => void this.#sweep(), sweepMilliseconds);
    return this.#port;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#options.sessions.close();
    const closed = new Promise<void>((over) => this.#server.close(() => over()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #sweep(): Promise<void> {
    // A sweep takes as long as the daemon does: the next one comes after it.
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    await this.#options.sessions.sweep().catch(() => undefined);
    this.#isSweeping = false;
  }

  #isSweeping = false;

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      await sendResponse(await this.#answer(request, gone.signal), response);
    } catch {
      // The client has disconnected, or there is a bug: nothing of it is shown.
      if (!response.headersSent) await sendResponse(errorAnswer(500, "the request could not be served"), response);
      else response.destroy();
    }
  }

  async #answer(request: IncomingMessage, signal: AbortSignal): Promise<Response> {
    const refused = this.#refusal(request);
    if (refused !== null) return refused;
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return unauthorized("send a token: Authorization: Bearer TOKEN");
    const checked = await this.#options.check(token);
    if (!checked.ok && checked.code !== "unknown_token") return errorAnswer(503, checked.message);
    if (!checked.ok) {
      this.#options.sessions.closeToken(token);
      return unauthorized(checked.message);
    }
    // Its end was told before it could be counted.
    if (signal.aborted) return errorAnswer(499, "the client has disconnected");
    const running = this.#running.get(token) ?? 0;
    if (this.#all >= exchangesMax || running >= exchangesOfTokenMax)
      return errorAnswer(503, "too many requests are open", { "retry-after": "1" });
    this.#all++;
    this.#running.set(token, running + 1);
    const over = (): void => {
      this.#all--;
      const left = (this.#running.get(token) ?? 1) - 1;
      if (left === 0) this.#running.delete(token);
      else this.#running.set(token, left);
    };
    signal.addEventListener("abort", over, { once: true });
    return this.#dispatch(request, signal, token);
  }

  async #dispatch(request: IncomingMessage, signal: AbortSignal, token: string): Promise<Response> {
    const { sessions } = this.#options;
    const asked = webRequest(request, signal);
    if (request.method !== "POST") return sessions.named({ request: asked, body: undefined, token });
    if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? ""))
      return errorAnswer(415, "the content type must be application/json");
    const text = await readBody(request, bodyBytesMax);
    if (text === null) return errorAnswer(413, `a message has at most ${bodyBytesMax} bytes`, { connection: "close" });
    const body = parsed(text);
    if (body === undefined)
      return Response.json(errorResponse(null, PARSE_ERROR, "the body is not JSON"), { status: 400 });
    if (Array.isArray(body) || !isBounded(body)) {
      const why = "a message must be one object, not nested too deeply, without numbers that are too large";
      return Response.json(errorResponse(null, INVALID_REQUEST, why), { status: 400 });
    }
    const exchange = { request: asked, body, token };
    return (await isLegacyRequest(asked, body)) ? sessions.named(exchange) : sessions.shared(exchange);
  }

  /** A page in a browser can send requests here: by a name that it made resolve to this machine, or from its own origin. */
  #refusal(request: IncomingMessage): Response | null {
    const { host, origin } = request.headers;
    // Of two, another reader could take the other one.
    if (ONCE.some((name) => (request.headersDistinct[name]?.length ?? 0) > 1))
      return errorAnswer(400, `${ONCE.join(", ")}: each header at most once`);
    const hosts = LOOPBACK_NAMES.map((name) => `${name}:${this.#port}`);
    if (host === undefined || !hosts.includes(host.toLowerCase())) return errorAnswer(403, "this Host is not served");
    if (origin !== undefined && !isLoopbackOrigin(origin)) return errorAnswer(403, "this Origin is not served");
    const path = (request.url ?? "").split("?")[0];
    if (path !== httpPath) return errorAnswer(404, `there is nothing here; the path is ${httpPath}`);
    if (!METHODS.has(request.method ?? ""))
      return errorAnswer(405, "this method is not served", { allow: [...METHODS].join(", ") });
    return null;
  }
}

function isLoopbackOrigin(origin: string): boolean {
  try {
    const { protocol, hostname } = new URL(origin);
    return (protocol === "http:" || protocol === "https:") && LOOPBACK_NAMES.includes(hostname);
  } catch {
    return false;
  }
}

function unauthorized(message: string): Response {
  return errorAnswer(401, message, { "www-authenticate": 'Bearer realm="ambit", error="invalid_token"' });
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
