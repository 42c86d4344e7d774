// The protocol over HTTP on loopback, in front of servers on standard input: as little as an HTTP client needs. In the older era
// one server per session, in the newer one for all requests. It decides nothing.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fixture } from "../state/fixture.ts";
import { StdioServer, type WireMessage } from "./stdio-server.ts";

const bodyBytesMax = 1_048_576;
const NEWER = "2026-07-28";
const OLDER = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
/** Errors for which the protocol requires a particular status. */
const STATUS: Readonly<Record<string, number>> = {
  "-32601": 404,
  "-32602": 400,
  "-32020": 400,
  "-32021": 400,
  "-32022": 400,
};

export class HttpBridge {
  readonly #fixture: Fixture;
  readonly #words: readonly string[];
  readonly #names: Names;
  readonly #sessions = new Map<string, StdioServer>();
  readonly #http: Server;
  #shared: StdioServer | null = null;

  /** `names`: how the client's names are written for the server, and back. */
  constructor(fixture: Fixture, words: readonly string[], names: Names = SAME_NAMES) {
    this.#fixture = fixture;
    this.#words = words;
    this.#names = names;
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** Its address, as soon as it listens. */
  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#http.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((done) => this.#http.close(done));
    const servers = [...this.#sessions.values(), ...(this.#shared === null ? [] : [this.#shared])];
    await Promise.all(servers.map((server) => server.close()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = "", origin } = request.headers;
    const isLocal = LOCAL.test(host) && (origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, "")));
    if (!isLocal) return end(response, 403);
    const session = String(request.headers["mcp-session-id"] ?? "");
    if (request.method === "DELETE") return end(response, await this.#forget(session));
    if (request.method !== "POST") return end(response, 405);
    const text = await body(request);
    const message = parsed(text);
    if (message === null) return end(response, 400, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "" } });
    const version = String(request.headers["mcp-protocol-version"] ?? (session === "" ? "" : "2025-11-25"));
    const isNewer = version !== "" && !OLDER.has(version);
    const server = this.#serverFor(session, message, isNewer, response);
    if (server === undefined) return end(response, 404);
    if (message.method === undefined || message.id === undefined) {
      server.send(message);
      return end(response, 202);
    }
    forward(server, message, isNewer, response, this.#names);
  }

  #serverFor(
    session: string,
    message: WireMessage,
    isNewer: boolean,
    response: ServerResponse,
  ): StdioServer | undefined {
    if (isNewer) return this.#newerServer();
    if (session !== "" || message.method !== "initialize") return this.#sessions.get(session);
    const id = randomUUID();
    const server = new StdioServer(this.#fixture, this.#words);
    this.#sessions.set(id, server);
    response.setHeader("mcp-session-id", id);
    return server;
  }

  /** A server is bound to the era of its first request, `server/discover` aside; over HTTP every request names its own. */
  #newerServer(): StdioServer {
    if (this.#shared !== null) return this.#shared;
    this.#shared = new StdioServer(this.#fixture, this.#words);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": NEWER,
      "io.modelcontextprotocol/clientInfo": { name: "bridge", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    this.#shared.request({ jsonrpc: "2.0", id: 0, method: "tools/list", params: { _meta } }, () => undefined);
    return this.#shared;
  }

  async #forget(session: string): Promise<number> {
    const server = this.#sessions.get(session);
    if (server === undefined) return 404;
    this.#sessions.delete(session);
    await server.close();
    return 200;
  }
}

export interface Names {
  sent(message: WireMessage): WireMessage;
  told(message: WireMessage, asked: WireMessage): WireMessage;
}

const SAME_NAMES: Names = { sent: (message) => message, told: (message) => message };

function forward(
  server: StdioServer,
  message: WireMessage,
  isNewer: boolean,
  response: ServerResponse,
  names: Names,
): void {
  const takeBack = server.request(names.sent(message), (heard) => {
    const told = names.told(heard, message);
    const isAnswer = told.method === undefined;
    if (isAnswer && !response.headersSent)
      return end(response, isNewer ? (STATUS[String(told.error?.code)] ?? 200) : 200, told);
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: message\ndata: ${JSON.stringify(told)}\n\n`);
    if (isAnswer) response.end();
  });
  response.on("close", takeBack);
}

function end(response: ServerResponse, status: number, message?: WireMessage): void {
  if (message === undefined) response.writeHead(status).end();
  else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message));
}

async function body(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > bodyBytesMax) throw new Error("the body is too large");
  }
  return text;
}

function parsed(text: string): WireMessage | null {
  try {
    return JSON.parse(text) as WireMessage;
  } catch {
    return null;
  }
}
