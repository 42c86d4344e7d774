// Sessions of clients over HTTP. In the older era a client opens a session by `initialize` and names it in every request; in the
// newer era there are none, and the requests of one client share one daemon session. A client is known by its token: one of ambit's is one
// client, and the access tokens that an authorization server gives to one client, one after another, are one client.
// INVARIANT: a session belongs to the client that opened it. For another client it does not exist.
import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  type JSONRPCMessage,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { isRequestId, type RequestId } from "../json-rpc.ts";
import { LISTEN, ListenedResources } from "../listened-resources.ts";
import type { ReconnectingSession } from "../reconnecting-session.ts";
import { ServerFactory } from "../server.ts";
import { toMcpTools } from "../tool-list.ts";
import { closedClientsMax, idleMilliseconds, requestsOfSessionMax, sessionsMax, sessionsOfTokenMax } from "./limits.ts";
import { errorAnswer } from "./web-exchange.ts";

export interface HttpSessionsOptions {
  readonly identity: { readonly name: string; readonly version: string };
  /** A session of the daemon, opened with the latest token of this client when it is first used. `previous`: a session that it goes on from. */
  open(client: string, previous: string | null): ReconnectingSession;
  /** Whether its latest token still holds; false also while that is not known. */
  holds(client: string): Promise<boolean>;
  /** Milliseconds of a monotonic clock. */
  elapsed(): number;
}

export interface HttpExchange {
  readonly request: Request;
  /** Undefined for a request without a body. */
  readonly body: Json | undefined;
  /** Known by its token, which goes no further. */
  readonly client: string;
}

/** What both eras have in common: something that is open for a client. */
interface Open {
  readonly client: string;
  readonly session: ReconnectingSession;
  used: number;
  /** Exchanges that are not over. */
  running: number;
  close(): void;
}

export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  /** Of the older era, by the id that the client sends. */
  readonly #named = new Map<string, NamedSession>();
  /** Of the newer era, by client. */
  readonly #shared = new Map<string, SharedSession>();
  /**
   * By client: a session that made calls and was closed while its client may go on. INVARIANT: later sessions of the client
   * inherit its taint, because the client opens the next one by itself in the same conversation.
   */
  readonly #closed = new Map<string, string>();
  /** By client: sessions that are being opened. */
  readonly #opening = new Map<string, number>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  get all(): readonly Open[] {
    return [...this.#named.values(), ...this.#shared.values()];
  }

  /** A request of the older era. */
  async named({ request, body, client }: HttpExchange): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const isInitialize = body !== undefined && isJsonObject(body) && member(body, "method") === "initialize";
    if (id === null && isInitialize) {
      return this.#initialize(request, body, client);
    }
    if (id === null) return errorAnswer(400, "the header Mcp-Session-Id is missing: send `initialize` first");
    const session = this.#named.get(id);
    if (session === undefined || session.client !== client) return errorAnswer(404, "there is no such session");
    return this.#during(session, () => session.handle(request, body));
  }

  /** A request of the newer era. */
  async shared({ request, body, client }: HttpExchange): Promise<Response> {
    const known = this.#shared.get(client);
    const session = known ?? new SharedSession(this.#options.identity, client, this.#sessionOf(client));
    if (known === undefined) this.#shared.set(client, session);
    return this.#during(session, () => session.handle(request, body));
  }

  /** Ends everything of a client whose token does not hold any more. It may come back with another one. */
  closeClient(client: string): void {
    this.#closeWhere((one) => one.client === client);
  }

  #sessionOf(client: string): ReconnectingSession {
    return this.#options.open(client, this.#closed.get(client) ?? null);
  }

  /** Ends what is idle or revoked, and tells clients of the newer era which of their lists have changed. */
  async sweep(): Promise<void> {
    const { elapsed, holds } = this.#options;
    const now = elapsed();
    this.#closeWhere(({ used, running }) => running === 0 && now - used > idleMilliseconds);
    const clients = new Set(this.all.filter(({ running }) => running > 0).map(({ client }) => client));
    for (const client of clients) if (!(await holds(client))) this.closeClient(client);
    for (const session of this.#shared.values()) if (session.running > 0) await session.checkLists();
  }

  close(): void {
    this.#closeWhere(() => true);
  }

  async #initialize(request: Request, body: Json | undefined, client: string): Promise<Response> {
    const mine = [...this.#named.values()].filter((one) => one.client === client);
    const opening = this.#opening.get(client) ?? 0;
    const all = this.#named.size + [...this.#opening.values()].reduce((sum, count) => sum + count, 0);
    // The least recently used session that is idle gives way.
    const spare = mine.filter(({ running }) => running === 0).sort((one, other) => one.used - other.used)[0];
    const isFull = mine.length + opening >= sessionsOfTokenMax;
    if (isFull && spare !== undefined && opening < sessionsOfTokenMax) this.#closeWhere((one) => one === spare);
    else if (isFull || all >= sessionsMax) return errorAnswer(503, "too many sessions are open");
    // Counted from here on until the client has the session's id, or will never have it.
    this.#opening.set(client, opening + 1);
    const settled = (): void => {
      const left = (this.#opening.get(client) ?? 1) - 1;
      if (left === 0) this.#opening.delete(client);
      else this.#opening.set(client, left);
    };
    const session = new NamedSession(this.#options.identity, client, this.#sessionOf(client), (id, isOpen) => {
      if (isOpen) this.#named.set(id, session);
      else this.#closeWhere((one) => one === session);
    });
    try {
      await session.connect();
      return await this.#during(session, () => session.handle(request, body));
    } finally {
      settled();
    }
  }

  /** A response counts as over when its body is. */
  async #during(one: Open, act: () => Promise<Response>): Promise<Response> {
    one.running++;
    const over = (): void => {
      one.running--;
      one.used = this.#options.elapsed();
    };
    try {
      const response = await act();
      if (response.body === null) over();
      return response.body === null ? response : watched(response, over);
    } catch (error) {
      over();
      throw error;
    }
  }

  #closeOne(one: Open): void {
    const { previous } = one.session;
    if (previous !== null) this.#closed.set(one.client, previous);
    for (const oldest of this.#closed.keys()) if (this.#closed.size > closedClientsMax) this.#closed.delete(oldest);
    one.close();
  }

  #closeWhere(isMeant: (one: Open) => boolean): void {
    for (const [id, one] of [...this.#named])
      if (isMeant(one)) {
        this.#named.delete(id);
        this.#closeOne(one);
      }
    for (const [client, one] of [...this.#shared])
      if (isMeant(one)) {
        this.#shared.delete(client);
        this.#closeOne(one);
      }
  }
}

class NamedSession implements Open {
  readonly client: string;
  readonly session: ReconnectingSession;
  used = 0;
  running = 0;
  readonly #transport: AnsweringTransport;
  readonly #servers: ServerFactory;
  /** Ids of requests that are not answered yet: the SDK sends an answer to the stream that its id came in on last. */
  readonly #pending = new Set<RequestId>();

  constructor(
    identity: HttpSessionsOptions["identity"],
    client: string,
    session: ReconnectingSession,
    onChange: (id: string, isOpen: boolean) => void,
  ) {
    this.client = client;
    this.session = session;
    this.#servers = new ServerFactory({ identity, session });
    this.#transport = new AnsweringTransport(
      {
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => onChange(id, true),
        onsessionclosed: (id) => onChange(id, false),
      },
      (id) => this.#pending.delete(id),
    );
  }

  connect(): Promise<void> {
    return this.#servers.create("legacy").connect(this.#transport);
  }

  async handle(request: Request, body: Json | undefined): Promise<Response> {
    const message: JsonObject = body !== undefined && isJsonObject(body) ? body : {};
    const id = member(message, "method") === undefined ? undefined : member(message, "id");
    if (id !== undefined && isRequestId(id)) {
      if (this.#pending.has(id)) return errorAnswer(400, "`id` belongs to a request that is not answered yet");
      // A request goes on after its client has disconnected, so it counts until it is answered.
      if (this.#pending.size >= requestsOfSessionMax)
        return errorAnswer(503, "too many requests of this session are not answered yet", { "retry-after": "1" });
      this.#pending.add(id);
    }
    const cancelled = member(message, "method") === "notifications/cancelled" ? member(message, "params") : undefined;
    const named = cancelled !== undefined && isJsonObject(cancelled) ? member(cancelled, "requestId") : undefined;
    // A cancelled request gets no response.
    if (named !== undefined && isRequestId(named)) this.#pending.delete(named);
    const response = await this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    if (!response.ok && id !== undefined && isRequestId(id)) this.#pending.delete(id);
    return response;
  }

  close(): void {
    this.#servers.stop();
    void this.#transport.close().catch(() => undefined);
    this.session.close();
  }
}

/** Tells which requests are answered. */
class AnsweringTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #onAnswer: (id: RequestId) => void;

  constructor(
    options: ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0],
    onAnswer: (id: RequestId) => void,
  ) {
    super(options);
    this.#onAnswer = onAnswer;
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!("method" in message) && message.id !== undefined) this.#onAnswer(message.id);
    await super.send(message, options);
  }
}

class SharedSession implements Open {
  readonly client: string;
  readonly session: ReconnectingSession;
  readonly #handler: McpHttpHandler;
  readonly #listened: ListenedResources;
  used = 0;
  running = 0;
  #list: string | null = null;
  #changes: string | null = null;

  constructor(identity: HttpSessionsOptions["identity"], client: string, session: ReconnectingSession) {
    this.client = client;
    this.session = session;
    const servers = new ServerFactory({ identity, session, isForOneRequest: true });
    this.#handler = createMcpHandler(({ era }) => servers.create(era), { legacy: "reject" });
    this.#listened = new ListenedResources(session, {
      follow: async () => {
        await session.list();
        await this.checkLists();
      },
      changed: (uri) => this.#handler.notify.resourceUpdated(uri),
    });
  }

  async handle(request: Request, body: Json | undefined): Promise<Response> {
    if (body === undefined || !isJsonObject(body) || member(body, "method") !== LISTEN)
      return this.#handler.fetch(request, { parsedBody: body });
    const key = Symbol();
    const over = (): void => this.#listened.close(key);
    request.signal.addEventListener("abort", over, { once: true });
    try {
      const listened = request.signal.aborted ? null : await this.#listened.open(key, body);
      if (listened === null) return errorAnswer(499, "the client has disconnected");
      const response = await this.#handler.fetch(request, { parsedBody: listened });
      if (response.body !== null) return watched(response, over);
      over();
      return response;
    } catch (error) {
      over();
      throw error;
    }
  }

  /** Tells open subscriptions which lists are others than at the last look. */
  async checkLists(): Promise<void> {
    const tools = await this.session.currentList();
    if (tools === null) return;
    const { changes } = this.session;
    const list = JSON.stringify(toMcpTools(tools));
    const { notify } = this.#handler;
    const isOtherList = this.#list !== null && this.#list !== list;
    const isOther = this.#changes !== null && this.#changes !== changes;
    [this.#list, this.#changes] = [list, changes];
    if (isOtherList) notify.toolsChanged();
    if (!isOther) return;
    notify.resourcesChanged();
    notify.promptsChanged();
  }

  close(): void {
    this.#listened.closeAll();
    void this.#handler.close().catch(() => undefined);
    this.session.close();
  }
}

/** The same response; `over` is called once, when its body was read or is not wanted any more. */
function watched(response: Response, over: () => void): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await reader.read().catch((error: unknown) => {
        over();
        throw error;
      });
      if (!next.done) return controller.enqueue(next.value);
      over();
      controller.close();
    },
    async cancel(reason) {
      over();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
