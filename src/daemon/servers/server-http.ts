// The connection to an MCP server at an address. Each message is one request of the broker: to the host of the address, with
// the headers of the file and no others, without redirects. What comes back is heard like the lines of a process.
import { type HeaderLine, headerBytesMax, secretsIn } from "../../core/authority/axes/http-request.ts";
import type { Decision } from "../../core/authority/decision.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import type { ServerAddress } from "../../core/notation/servers/server-endpoint.ts";
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { FetchSecret } from "../../core/ports/instruments.ts";
import type { FetchOptions, FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { fetchMillisecondsMax, requestBodyBytesMax } from "../../sandbox/network/fetch/fetch-limits.ts";
import type { ResolverChoice } from "../../sandbox/network/names/resolver.ts";
import { LineReader } from "../../text/line-reader.ts";
import { type ListenEnd, Listening } from "./listening.ts";
import { type ServerConnection, type ServerListener, serverLineBytesMax } from "./server-connection.ts";
import { NEEDS_SIGN_IN } from "./server-message.ts";

export interface ServerHttpOptions {
  readonly endpoint: ServerAddress;
  fetch(wish: FetchOptions): Promise<FetchResult>;
  /** The same, for a response that stays open; counted apart. */
  listen(wish: FetchOptions): Promise<FetchResult>;
  resolver(): ResolverChoice;
  /** By what the server requires, and the user's ceiling, as they are now. */
  judge(request: Request): Decision;
  /** Opened and counted for one request, or why one of them cannot be used. Wiped by the caller. */
  secrets(names: readonly string[]): Promise<readonly FetchSecret[] | string>;
  readonly signIn: ServerSignIn;
}

/** The token of a person who signed in at the server. */
export interface ServerSignIn {
  /** Null without a sign-in; a text where it has ended, or cannot be used now. Wiped by the caller. */
  token(): Promise<{ readonly secret: FetchSecret; readonly version: number } | string | null>;
  /** The server refused this token: whether there is another one by now. */
  renew(version: number): Promise<boolean>;
  /** The server refused a request, and said in this `WWW-Authenticate` what it wants. */
  challenged(text: string): void;
}

/** A stream of events may hold many messages, of which each has its own limit. */
const streamBytesMax = 33_554_432;
const errorBytesMax = 65_536;
/** Of one server: a part of what all sessions have together. */
const requestsMax = 20;
/** Answers to the server, and notifications: nothing waits for what comes back. */
const answersMax = 4;
const answerMilliseconds = 5_000;
/** Visible ASCII, as the protocol has it. */
const SESSION = /^[\x21-\x7e]{1,512}$/;
/** How long one server is heard before others are. */
const hearMilliseconds = 4;
const LISTEN = "subscriptions/listen";
/** Its requests carry everything in themselves, so they are named in headers too. */
const STATELESS = "2026-07-28";

interface Failure {
  readonly code: "sign_in_required";
  readonly message: string;
}

const SIGN_IN_REQUIRED: Failure = { code: "sign_in_required", message: NEEDS_SIGN_IN };

const ENFORCED: readonly Enforcement[] = (["host", "port"] as const).map((axis) => ({
  axis,
  strength: "broker",
  note: null,
}));

export class ServerHttp implements ServerConnection {
  readonly #options: ServerHttpOptions;
  readonly #names: readonly string[];
  #listener: ServerListener = {
    heard: () => true,
    failed: () => undefined,
    isOpen: () => false,
    missed: () => undefined,
  };
  readonly #running = new Map<AbortController, number | null>();
  #session: string | null = null;
  #protocol: string | null = null;
  #isOver = false;
  readonly ended: Promise<string>;
  readonly isRemote = true;
  /** The older era: a stream that is open beside all requests. */
  #listening: Listening | null = null;
  /** Of its last event, where the server gave it one. */
  #lastEvent: string | null = null;
  #giveEnd: (why: string) => void = () => undefined;

  constructor(options: ServerHttpOptions) {
    this.#options = options;
    this.#names = secretsIn(options.endpoint.url, options.endpoint.headers, null);
    this.ended = new Promise((done) => {
      this.#giveEnd = done;
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isReceiving(): boolean {
    return this.#listening?.isOpen === true;
  }

  /** Its entry names one: then no sign-in is used. */
  get #hasCredential(): boolean {
    return this.#options.endpoint.headers.some(([name]) => /^authorization$/i.test(name));
  }

  get complaint(): string {
    return "";
  }

  get enforcement(): readonly Enforcement[] {
    return ENFORCED;
  }

  hear(listener: ServerListener): void {
    this.#listener = listener;
  }

  speak(protocol: string): void {
    this.#protocol = protocol;
  }

  listen(): void {
    if (this.#isOver || this.#listening !== null) return;
    this.#listening = new Listening({
      connect: (signal, opened) => this.#stream(signal, opened, true),
      // A server that numbers its events sends again what was missed.
      missed: () => this.#lastEvent === null && this.#listener.missed(),
      refused: () => undefined,
    });
  }

  say(message: JsonObject): boolean {
    if (this.#isOver || this.#running.size >= requestsMax) return false;
    // INVARIANT: no message is filled with a secret, only the headers and the address that the file has. JSON has two braces in a
    // row in texts only: each that another one follows is written differently, so no handle is left, however many there are.
    const body = Buffer.from(JSON.stringify(message).replaceAll(/\{(?=\{)/g, "\\u007b"));
    if (body.length > requestBodyBytesMax || this.#headers(message).some(([, value]) => value.includes("{{")))
      return false;
    if (member(message, "method") === "notifications/cancelled") this.#cancel(member(message, "params"));
    const id = member(message, "id");
    const isRequest = typeof id === "number" && typeof member(message, "method") === "string";
    const answering = [...this.#running.values()].filter((one) => one === null).length;
    if (!isRequest && answering >= answersMax) return false;
    void this.#post(message, body, isRequest ? id : null);
    return true;
  }

  end(why: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listening?.stop();
    for (const stopping of this.#running.keys()) stopping.abort();
    if (this.#session !== null) void this.#goodbye();
    this.#giveEnd(why ?? "the connection was closed");
  }

  #cancel(params: Json | undefined): void {
    const id = isJsonObject(params ?? null) ? member(params as JsonObject, "requestId") : undefined;
    for (const [stopping, of] of this.#running) if (of === id) stopping.abort();
  }

  async #post(message: JsonObject, body: Uint8Array, id: number | null): Promise<void> {
    const stopping = new AbortController();
    this.#running.set(stopping, id);
    let why: Failure | string | null;
    try {
      why = await this.#exchange(message, body, id, stopping.signal, true);
    } catch {
      why = "its response cannot be parsed";
    } finally {
      this.#running.delete(stopping);
    }
    if (id !== null && !this.#isOver && this.#listener.isOpen(id))
      this.#listener.failed(
        id,
        typeof why === "string" ? why : (why?.message ?? "it did not respond to this request"),
        typeof why === "string" ? undefined : why?.code,
      );
  }

  /** Why the request was not answered; null where it may have been. */
  async #exchange(
    message: JsonObject,
    body: Uint8Array,
    id: number | null,
    signal: AbortSignal,
    mayRenew: boolean,
  ): Promise<Failure | string | null> {
    const milliseconds = id === null ? answerMilliseconds : fetchMillisecondsMax;
    const isListening = member(message, "method") === LISTEN;
    const sent = await this.#send("POST", this.#headers(message), body, signal, milliseconds, isListening);
    if (typeof sent === "string" || "code" in sent) return sent;
    const { fetched, version } = sent;
    if (!fetched.ok) return fetched.message;
    const header = (name: string): string => fetched.headers.find(([one]) => one === name)?.[1] ?? "";
    const { status } = fetched;
    if (member(message, "method") === "initialize" && status === 200) {
      const session = header("mcp-session-id");
      // The server names it, and the broker fills in handles of secrets in headers.
      if (session !== "" && (!SESSION.test(session) || session.includes("{{"))) return "its session id is not valid";
      if (session !== "") this.#session = session;
    }
    const type = header("content-type").toLowerCase();
    if (status === 200 && type.startsWith("text/event-stream")) return this.#events(fetched, id);
    const text = await wholeBody(fetched, status === 200 ? serverLineBytesMax : errorBytesMax);
    if (status === 200 && type.startsWith("application/json")) {
      if (text !== "") this.#listener.heard(text);
      return null;
    }
    if (status === 404 && this.#session !== null) {
      this.end("the server ended the session");
      return "the server ended the session";
    }
    // An error of the protocol is an answer, whatever its status.
    if (status >= 400 && id !== null && text !== null && isErrorOf(text, id)) {
      this.#listener.heard(text);
      return null;
    }
    if (status === 202 || status === 204) return null;
    if ((status === 401 || status === 403) && !this.#hasCredential && header("www-authenticate") !== "")
      this.#options.signIn.challenged(header("www-authenticate"));
    // The server did not look at the message: it may be sent again.
    if (status === 401 && version !== null && mayRenew && (await this.#options.signIn.renew(version)))
      return this.#exchange(message, body, id, signal, false);
    if (status === 401 && !this.#hasCredential) return SIGN_IN_REQUIRED;
    if (status === 403 && version !== null)
      return { ...SIGN_IN_REQUIRED, message: "status 403: the sign-in lacks a scope that this call needs" };
    if (status === 401 || status === 403) return `it refuses the credentials (status ${status})`;
    if (status >= 300 && status < 400) return `it responds with a redirect (status ${status}), which is not followed`;
    return `it responds with status ${status}`;
  }

  /** The older era: a stream of events that belong to no request. */
  async #stream(signal: AbortSignal, opened: () => void, mayRenew: boolean): Promise<ListenEnd> {
    const last = this.#lastEvent;
    const headers: readonly HeaderLine[] = [
      ...this.#headers({}).filter(([name]) => name !== "Content-Type" && name !== "Accept"),
      ["Accept", "text/event-stream"],
      ...(last === null ? [] : [["Last-Event-ID", last] as const]),
    ];
    const sent = await this.#send("GET", headers, null, signal, fetchMillisecondsMax, true);
    if (typeof sent === "string") return "lost";
    if ("code" in sent) return "refused";
    const { fetched, version } = sent;
    if (!fetched.ok) return "lost";
    const type = fetched.headers.find(([one]) => one === "content-type")?.[1] ?? "";
    if (fetched.status === 200 && type.toLowerCase().startsWith("text/event-stream")) {
      opened();
      await this.#events(fetched, null);
      return "lost";
    }
    await wholeBody(fetched, errorBytesMax);
    if (fetched.status === 401 && version !== null && mayRenew && (await this.#options.signIn.renew(version)))
      return this.#stream(signal, opened, false);
    // A session that has ended, too, is found out by the next request.
    return fetched.status >= 500 || fetched.status === 429 ? "lost" : "refused";
  }

  async #send(
    method: "GET" | "POST" | "DELETE",
    headers: readonly HeaderLine[],
    body: Uint8Array | null,
    stop: AbortSignal | null,
    milliseconds: number,
    isListening = false,
  ): Promise<{ readonly fetched: FetchResult; readonly version: number | null } | Failure | string> {
    const { endpoint, fetch, listen, resolver, judge, secrets, signIn } = this.#options;
    const opened = this.#names.length === 0 ? [] : await secrets(this.#names);
    if (typeof opened === "string") return opened;
    const token = this.#hasCredential ? null : await signIn.token();
    const values = token === null || typeof token === "string" ? opened : [...opened, token.secret];
    const bearer: readonly HeaderLine[] =
      token === null || typeof token === "string" ? [] : [["Authorization", `Bearer {{secret:${token.secret.name}}}`]];
    try {
      if (typeof token === "string") return { ...SIGN_IN_REQUIRED, message: token };
      const fetched = await (isListening ? listen : fetch)({
        ...{ method, url: endpoint.address, body, stop, sign: null, resolver: resolver(), judge },
        headers: [...headers, ...endpoint.headers, ...bearer],
        limits: { headerBytes: headerBytesMax, bodyBytes: streamBytesMax, milliseconds, redirects: 0 },
        secrets: values,
      });
      return { fetched, version: token?.version ?? null };
    } finally {
      for (const { value } of values) value.fill(0);
    }
  }

  #headers(message: JsonObject): readonly HeaderLine[] {
    const method = member(message, "method");
    const params = member(message, "params");
    const names = isJsonObject(params ?? null) ? (params as JsonObject) : {};
    const name = member(names, method === "resources/read" ? "uri" : "name");
    const isNamed = this.#protocol === STATELESS && typeof method === "string";
    return [
      ["Content-Type", "application/json"],
      ["Accept", "application/json, text/event-stream"],
      ...(this.#protocol === null ? [] : [["MCP-Protocol-Version", this.#protocol] as const]),
      ...(this.#session === null ? [] : [["Mcp-Session-Id", this.#session] as const]),
      ...(isNamed ? [["Mcp-Method", method] as const] : []),
      ...(isNamed && typeof name === "string" ? [["Mcp-Name", headerName(name)] as const] : []),
    ];
  }

  /** Each event is one message. The stream is left once the request is answered. */
  async #events(fetched: Extract<FetchResult, { ok: true }>, id: number | null): Promise<string | null> {
    const lines = new LineReader(serverLineBytesMax);
    let data: string[] = [];
    let length = 0;
    const isWanted = (isHeard: boolean): boolean => isHeard && (id === null || this.#listener.isOpen(id));
    const take = (field: string | null): boolean => {
      if (field === null || length + field.length > serverLineBytesMax) return this.#listener.heard(null) && false;
      if (field === "") {
        const text = data.join("\n");
        [data, length] = [[], 0];
        return text === "" || isWanted(this.#listener.heard(text));
      }
      length += field.length;
      if (id === null && field.startsWith("id:")) this.#took(field.slice(3).trim());
      if (field.startsWith("data:")) data.push(field.slice(5).replace(/^ /, ""));
      return true;
    };
    for await (const piece of fetched.body) {
      let goesOn = true;
      const before = performance.now();
      lines.push(Buffer.from(piece), (line) => {
        goesOn = take(line.kind === "line" ? line.text.replace(/\r$/, "") : null);
        return goesOn;
      });
      if (!goesOn || this.#isOver) return null;
      // Backpressure, as for processes: it takes at most half of the time.
      const spent = performance.now() - before;
      if (spent >= hearMilliseconds) await new Promise((done) => setTimeout(done, Math.min(spent, 1_000)));
    }
    return "the stream ended before this request was answered";
  }

  /** The broker fills in handles of secrets in headers, and the server chose this text. */
  #took(event: string): void {
    this.#lastEvent = SESSION.test(event) && !event.includes("{{") ? event : null;
  }

  async #goodbye(): Promise<void> {
    const headers = this.#headers({}).filter(([name]) => name !== "Content-Type");
    const sent = await this.#send("DELETE", headers, null, null, answerMilliseconds).catch(() => null);
    if (sent === null || typeof sent === "string" || "code" in sent || !sent.fetched.ok) return;
    for await (const _ of sent.fetched.body) break;
  }
}

/** As the protocol has it for what is no plain header, and for what would be a handle of a secret. */
function headerName(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) && !name.includes("{{") && !name.startsWith("=?")
    ? name
    : `=?base64?${Buffer.from(name).toString("base64")}?=`;
}

/** Null where it has more bytes. */
async function wholeBody(fetched: Extract<FetchResult, { ok: true }>, bytesMax: number): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of fetched.body) {
    length += piece.length;
    if (length > bytesMax) return null;
    pieces.push(piece);
  }
  const end = await fetched.end;
  return end.ok ? Buffer.concat(pieces).toString("utf8") : null;
}

/** Whether a text is an error of the protocol for this request. */
function isErrorOf(text: string, id: number): boolean {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) && member(value, "id") === id && isJsonObject(member(value, "error") ?? null);
  } catch {
    return false;
  }
}
