// The HTTP server: who may speak, and how much. A request passes the checks of its Host, Origin, path, method and token, in this
// order, before a byte of its body is read. Every answer of a session is made elsewhere.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isLegacyRequest } from "@modelcontextprotocol/server";
import type { Json } from "../../core/base/json.ts";
import type { ResourceView } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
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
  /** The client that a token is for, while the token holds. */
  check(token: string): Promise<Answer<{ readonly id: string }>>;
  /** The client whose latest token this is; null for a token that no request has had, or that a newer one has replaced. */
  clientOf(token: string): string | null;
  /** The authorization servers that the user named; null for none. */
  metadata(): Promise<ResourceView | null>;
}

export const httpPath = "/mcp";
/** Where RFC 9728 has the metadata of the server, and of the whole address. */
const METADATA_PATHS: readonly string[] = ["", httpPath].map((end) => `/.well-known/oauth-protected-resource${end}`);
const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"]);
const ONCE: readonly string[] = ["host", "origin", "authorization", "mcp-session-id", "content-type"];
/** Codes that reject the token itself; any other code means that the daemon could not decide. */
const REFUSED_TOKEN: ReadonlySet<string> = new Set(["unknown_token", "insufficient_scope", "not_mapped"]);
const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]{1,8192}=*)$/i;

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
    if (METADATA_PATHS.includes(pathOf(request))) return this.#metadataAnswer();
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return this.#challenge(401, "send a token: Authorization: Bearer TOKEN", null);
    const checked = await this.#options.check(token);
    if (!checked.ok) return this.#refusedToken(token, checked);
    const client = checked.value.id;
    // Access tokens are for the address that the configuration names.
    if (client.startsWith("o_") && (await this.#metadata()) === null)
      return this.#challenge(401, "access tokens are not for this address", "invalid_token");
    // The client disconnected before the request was counted.
    if (signal.aborted) return errorAnswer(499, "the client has disconnected");
    const running = this.#running.get(client) ?? 0;
    if (this.#all >= exchangesMax || running >= exchangesOfTokenMax)
      return errorAnswer(503, "too many requests are open", { "retry-after": "1" });
    this.#all++;
    this.#running.set(client, running + 1);
    const over = (): void => {
      this.#all--;
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left === 0) this.#running.delete(client);
      else this.#running.set(client, left);
    };
    signal.addEventListener("abort", over, { once: true });
    return this.#dispatch(request, signal, client);
  }

  /** Ends what the token had open, unless the daemon could not say whether it holds. */
  #refusedToken(token: string, { code, message }: Refusal): Promise<Response> | Response {
    if (!REFUSED_TOKEN.has(code)) return errorAnswer(503, message, { "retry-after": "5" });
    const client = this.#options.clientOf(token);
    if (client !== null) this.#options.sessions.closeClient(client);
    if (code === "unknown_token") return this.#challenge(401, message, "invalid_token");
    return this.#challenge(403, message, code === "insufficient_scope" ? code : null);
  }

  /** RFC 6750 and 9728: what is wrong, and where a client learns how to get a token. */
  async #challenge(status: 401 | 403, message: string, error: string | null): Promise<Response> {
    const metadata = await this.#metadata();
    const parts = [
      'realm="ambit"',
      ...(error === null ? [] : [`error="${error}"`]),
      ...(metadata === null ? [] : [`resource_metadata="${new URL(METADATA_PATHS[1] ?? "", metadata.resource).href}"`]),
      ...(metadata === null || metadata.scopes.length === 0 ? [] : [`scope="${metadata.scopes.join(" ")}"`]),
    ];
    return errorAnswer(status, message, { "www-authenticate": `Bearer ${parts.join(", ")}` });
  }

  /** Null also where the configuration names another address than this one. */
  async #metadata(): Promise<ResourceView | null> {
    const metadata = await this.#options.metadata();
    const own = LOOPBACK_NAMES.map((name) => `http://${name}:${this.#port}${httpPath}`);
    return metadata !== null && own.includes(metadata.resource) ? metadata : null;
  }

  async #metadataAnswer(): Promise<Response> {
    const metadata = await this.#metadata();
    if (metadata === null) return errorAnswer(404, "clients need a token of ambit: ambit tokens add AGENT");
    const { resource, issuers, scopes } = metadata;
    return Response.json({
      ...{ resource, authorization_servers: issuers, bearer_methods_supported: ["header"], resource_name: "ambit" },
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    });
  }

  async #dispatch(request: IncomingMessage, signal: AbortSignal, client: string): Promise<Response> {
    const { sessions } = this.#options;
    const asked = webRequest(request, signal);
    if (request.method !== "POST") return sessions.named({ request: asked, body: undefined, client });
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
    const exchange = { request: asked, body, client };
    return (await isLegacyRequest(asked, body)) ? sessions.named(exchange) : sessions.shared(exchange);
  }

  /** A page in a browser can send requests here: by a name that it made resolve to this machine, or from its own origin. */
  #refusal(request: IncomingMessage): Response | null {
    const { host, origin } = request.headers;
    // Duplicate headers are rejected: parsers differ in which one they use.
    if (ONCE.some((name) => (request.headersDistinct[name]?.length ?? 0) > 1))
      return errorAnswer(400, `${ONCE.join(", ")}: each header at most once`);
    const hosts = LOOPBACK_NAMES.map((name) => `${name}:${this.#port}`);
    if (host === undefined || !hosts.includes(host.toLowerCase())) return errorAnswer(403, "this Host is not served");
    if (origin !== undefined && !isLoopbackOrigin(origin)) return errorAnswer(403, "this Origin is not served");
    const path = pathOf(request);
    if (METADATA_PATHS.includes(path)) return request.method === "GET" ? null : notServed("GET");
    if (path !== httpPath) return errorAnswer(404, `not found; the path is ${httpPath}`);
    if (!METHODS.has(request.method ?? "")) return notServed([...METHODS].join(", "));
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

function pathOf({ url }: IncomingMessage): string {
  return (url ?? "").split("?")[0] ?? "";
}

function notServed(allow: string): Response {
  return errorAnswer(405, "this method is not served", { allow });
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
