// The daemon's side of the Model Context Protocol with one server, in both eras: it asks, and the server answers. Whatever the
// server asks for in turn is refused.
import { copyJson, isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { JsonMeter } from "../../core/base/json-meter.ts";
import { jsonDepthMax } from "../../core/base/limits.ts";
import { VERSION } from "../../core/base/version.ts";
import { errorText, readServerResult, type ServerResult } from "../../gateway/call-result.ts";
import { readDescription, type ServerDescription, toolsOfServerMax } from "../../gateway/definitions.ts";
import { type ServerConnection, serverLineBytesMax } from "./server-connection.ts";

export type UpstreamResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "execution_failed" | "not_available" | "stopped"; readonly message: string };

const PROTOCOLS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** The era without sessions: every request says who asks. */
const STATELESS = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "ambit", version: VERSION };
const STATELESS_META: JsonObject = {
  [`${META}protocolVersion`]: STATELESS,
  [`${META}clientInfo`]: CLIENT,
  [`${META}clientCapabilities`]: {},
};
const METHOD_NOT_FOUND = -32_601;
const startMilliseconds = 30_000;
const pingMilliseconds = 5_000;
const relistMilliseconds = 1_000;
/** How long the description of a server counts that cannot say by itself that it changed. */
const pollMilliseconds = 30_000;
const pagesMax = 64;
const refusedMethodsMax = 16;
/** Pings of a server in a minute that are no fault: each answer is a request over HTTP, with a secret that is counted. */
const pingsMax = 30;
const pingWindowMilliseconds = 60_000;
/** Calls that run in one server, and calls that run or are queued. */
const callsAtOnceMax = 16;
const waitingMax = 128;
/** Messages that break the protocol before the process is ended. */
const faultsMax = 100;
/** A longer message is measured before it is parsed: many values take seconds. */
const valuesMax = 262_144;

interface Pending {
  give(answer: UpstreamResult<JsonObject>): void;
}

export class Upstream {
  readonly #name: string;
  readonly #connection: ServerConnection;
  readonly #redacted: <T extends Json>(value: T) => T;
  readonly #pending = new Map<number, Pending>();
  readonly #queue: (() => void)[] = [];
  #number = 0;
  #running = 0;
  #faults = 0;
  #initialized: JsonObject = {};
  #isStateless = false;
  readonly #refusedMethods = new Set<string>();
  #pings = { since: 0, count: 0 };
  /** When its list was last asked for. */
  #listed = 0;
  #description: ServerDescription | null = null;
  #relist: NodeJS.Timeout | null = null;
  /** Set by its owner; called when the server asked for something that it is not offered. */
  onRefused: (method: string) => void = () => undefined;
  /** Set by its owner; called when the server changed what it says about itself. */
  onDescribed: (description: ServerDescription) => void = () => undefined;
  /** The first description, or why there is none. */
  readonly started: Promise<UpstreamResult<ServerDescription>>;
  /** Why it has ended, once it has. */
  readonly ended: Promise<string>;

  constructor(name: string, connection: ServerConnection, redacted: <T extends Json>(value: T) => T) {
    this.#name = name;
    this.#redacted = redacted;
    this.#connection = connection;
    connection.hear({
      heard: (text) => this.#hear(text),
      failed: (id, message) => this.#pending.get(id)?.give(unavailable(message)),
      isOpen: (id) => this.#pending.has(id),
    });
    this.ended = connection.ended.then((why) => {
      if (this.#relist !== null) clearTimeout(this.#relist);
      for (const [, { give }] of this.#pending) give(failed(`the server ended during the call: ${why}`));
      this.#pending.clear();
      return why;
    });
    this.started = this.#start().catch(() => this.#failed("its description cannot be read"));
  }

  get isOver(): boolean {
    return this.#connection.isOver;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.length === 0;
  }

  get complaint(): string {
    return this.#connection.complaint;
  }

  get enforcement(): ServerConnection["enforcement"] {
    return this.#connection.enforcement;
  }

  /** The latest; null until it has started. */
  get description(): ServerDescription | null {
    return this.#description;
  }

  end(why: string | null): void {
    this.#connection.end(why);
  }

  async call(
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
    milliseconds: number,
  ): Promise<UpstreamResult<ServerResult>> {
    const answer = await this.request("tools/call", { name: tool, arguments: input }, signal, milliseconds);
    if (!answer.ok) return answer;
    const result = readServerResult(answer.value);
    return result === null ? failed("the server's result is malformed") : { ok: true, value: result };
  }

  /** Asks again what the server says about itself, where that may have changed unnoticed, or `always`. */
  async refresh(always: boolean): Promise<void> {
    const age = performance.now() - this.#listed;
    const isOld = always ? age > relistMilliseconds : !this.#connection.isTelling && age > pollMilliseconds;
    if (isOld && this.#description !== null && !this.isOver) await this.#list();
  }

  /** Whether it said at its start that it has such things. */
  has(capability: string): boolean {
    const capabilities = member(this.#initialized, "capabilities");
    return isJsonObject(capabilities) && isJsonObject(member(capabilities, capability));
  }

  /** A request on behalf of a session; its turn comes when others have been answered. */
  async request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    milliseconds: number,
  ): Promise<UpstreamResult<JsonObject>> {
    if (this.#running + this.#queue.length >= waitingMax)
      return unavailable("too many calls of this server are queued");
    if (this.#running >= callsAtOnceMax) await new Promise<void>((go) => this.#queue.push(go));
    else this.#running++;
    try {
      return await this.#ask(method, params, milliseconds, signal);
    } finally {
      // The next call takes over this one's place.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async #start(): Promise<UpstreamResult<ServerDescription>> {
    const params = { protocolVersion: PROTOCOLS[0] ?? "", capabilities: {}, clientInfo: CLIENT };
    const initialized = await this.#ask("initialize", params, startMilliseconds, null);
    if (!initialized.ok) return this.#discover(initialized.message);
    const protocol = member(initialized.value, "protocolVersion");
    if (typeof protocol !== "string" || !PROTOCOLS.includes(protocol))
      return this.#failed("it speaks a version of the protocol that is not known");
    this.#initialized = initialized.value;
    this.#connection.speak(protocol);
    this.#connection.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    return this.#list();
  }

  /** A server of the newer era has no start; `why`: what the older one was answered with. */
  async #discover(why: string): Promise<UpstreamResult<ServerDescription>> {
    if (this.isOver) return this.#failed(why);
    this.#isStateless = true;
    this.#connection.speak(STATELESS);
    const discovered = await this.#ask("server/discover", {}, startMilliseconds, null);
    if (!discovered.ok) return this.#failed(why);
    const versions = member(discovered.value, "supportedVersions");
    if (!isJsonList(versions) || !versions.includes(STATELESS)) return this.#failed(why);
    const meta = member(discovered.value, "_meta");
    const info = isJsonObject(meta) ? member(meta, `${META}serverInfo`) : undefined;
    this.#initialized = { ...discovered.value, ...(info === undefined ? {} : { serverInfo: info }) };
    return this.#list();
  }

  async #list(): Promise<UpstreamResult<ServerDescription>> {
    const hasTools = this.has("tools");
    this.#listed = performance.now();
    const tools: Json[] = [];
    let cursor: string | null = null;
    for (let page = 0; hasTools && page < pagesMax; page++) {
      const params: JsonObject = cursor === null ? {} : { cursor };
      const listed: UpstreamResult<JsonObject> = await this.#ask("tools/list", params, startMilliseconds, null);
      if (!listed.ok) return this.#failed(listed.message);
      const found = member(listed.value, "tools");
      if (!isJsonList(found)) return this.#failed("its list of tools is malformed");
      for (const one of found) if (tools.length <= toolsOfServerMax) tools.push(one);
      const next = member(listed.value, "nextCursor");
      cursor = typeof next === "string" && next !== "" ? next : null;
      if (cursor === null || tools.length > toolsOfServerMax) break;
    }
    if (cursor !== null && tools.length <= toolsOfServerMax)
      return this.#failed(`its list has more than ${pagesMax} pages`);
    // It may have the value of a secret, and its description is what models read.
    const description = readDescription(this.#name, this.#redacted(this.#initialized), this.#redacted(tools));
    this.#description = description;
    this.onDescribed(description);
    return { ok: true, value: description };
  }

  /** A server that does not start as it should is of no use. */
  #failed(message: string): UpstreamResult<never> {
    this.end(null);
    return unavailable(message);
  }

  #ask(
    method: string,
    params: JsonObject,
    milliseconds: number,
    signal: AbortSignal | null,
  ): Promise<UpstreamResult<JsonObject>> {
    if (signal?.aborted === true) return Promise.resolve(STOPPED);
    const id = ++this.#number;
    return new Promise((done) => {
      let timer: NodeJS.Timeout | undefined;
      const onStop = (): void => cancel(STOPPED);
      const give = (answer: UpstreamResult<JsonObject>): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onStop);
        this.#pending.delete(id);
        done(answer);
      };
      const cancel = (answer: UpstreamResult<JsonObject>): void => {
        if (!this.#pending.has(id)) return;
        this.#connection.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
        give(answer);
      };
      this.#pending.set(id, { give });
      const sent = this.#isStateless ? { ...params, _meta: STATELESS_META } : params;
      if (!this.#connection.say({ jsonrpc: "2.0", id, method, params: sent })) {
        give(unavailable("the server has ended, or does not read its input"));
        return;
      }
      timer = setTimeout(() => {
        cancel(failed(`the server took more than ${milliseconds / 1000} seconds`));
        if (method !== "ping" && !this.#isStateless) void this.#check();
      }, milliseconds);
      signal?.addEventListener("abort", onStop, { once: true });
      if (this.isOver) void this.ended.then((why) => give(unavailable(`the server ended: ${why}`)));
    });
  }

  /** After a call that took too long: a server that does not even answer a ping is ended. */
  async #check(): Promise<void> {
    const answer = await this.#ask("ping", {}, pingMilliseconds, null);
    if (!answer.ok && !this.isOver) this.end("it does not answer any more");
  }

  #hear(text: string | null): boolean {
    if (text === null) return this.#fault(`a line has more than ${serverLineBytesMax} bytes`);
    if (text.trim() === "") return true;
    if (text.length > valuesMax && !new JsonMeter(valuesMax).take(Buffer.from(text)))
      return this.#fault(`a message has more than ${valuesMax} values`);
    const message = parse(text);
    // Whatever walks through its values later would run out of stack.
    if (message === "deep") {
      this.end(`it breaks the protocol: a message is nested more than ${jsonDepthMax} deep`);
      return false;
    }
    if (!isJsonObject(message) || member(message, "jsonrpc") !== "2.0") return this.#fault("a line is no message");
    const method = member(message, "method");
    const id = member(message, "id");
    if (typeof method === "string") return id === undefined ? this.#notified(method) : this.#asked(method, id);
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    // An answer to a cancelled request, or to one that was never made.
    if (pending === undefined) return this.#fault("it answers requests that are not open");
    const result = member(message, "result");
    const error = member(message, "error");
    if (isJsonObject(result) && isUnfinished(result)) {
      this.#refused("input_required");
      pending.give(failed(UNFINISHED));
    } else if (isJsonObject(result)) pending.give({ ok: true, value: result });
    else if (isJsonObject(error)) pending.give(failed(errorText(error)));
    else pending.give(failed("the server's answer has neither a result nor an error"));
    return true;
  }

  /** Requests of the server. Sampling, elicitation and roots were not offered to it. */
  #asked(method: string, id: Json): boolean {
    if (typeof id !== "string" && typeof id !== "number") return this.#fault("a request has no id");
    if (method === "ping") {
      if (!this.#mayPing()) return this.#fault("it pings without end");
      this.#connection.say({ jsonrpc: "2.0", id, result: {} });
      return true;
    }
    this.#connection.say({
      ...{ jsonrpc: "2.0", id },
      error: { code: METHOD_NOT_FOUND, message: "ambit does not offer this" },
    });
    this.#refused(method);
    return this.#fault(`it asks for ${method.slice(0, 64)}, which was not offered`);
  }

  #mayPing(): boolean {
    const now = performance.now();
    if (now - this.#pings.since > pingWindowMilliseconds) this.#pings = { since: now, count: 0 };
    return ++this.#pings.count <= pingsMax;
  }

  /** Once for each method: a server must not be able to fill the log. */
  #refused(method: string): void {
    const name = /^[a-zA-Z/_]{1,64}$/.test(method) ? method : "(another method)";
    if (this.#refusedMethods.has(name) || this.#refusedMethods.size >= refusedMethodsMax) return;
    this.#refusedMethods.add(name);
    this.onRefused(name);
  }

  /** Progress and log messages are dropped: they are text of the server that no call returned. */
  #notified(method: string): boolean {
    if (method === "notifications/tools/list_changed" && this.#description !== null && this.#relist === null)
      this.#relist = setTimeout(() => {
        this.#relist = null;
        void this.#list().catch(() => this.end("it breaks the protocol: its description cannot be read"));
      }, relistMilliseconds);
    return true;
  }

  /** False once there were too many: the process is ended, and the rest of its output dropped. */
  #fault(what: string): boolean {
    if (++this.#faults <= faultsMax) return true;
    this.end(`it breaks the protocol: ${what}`);
    return false;
  }
}

function parse(text: string): Json | "deep" | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return copyJson(value) ?? "deep";
}

/** The newer era: the server wants something from the user or the model first, which it is not offered. */
function isUnfinished(result: JsonObject): boolean {
  const type = member(result, "resultType");
  return type !== undefined && type !== "complete";
}

const UNFINISHED = "the server asks for input or for a model before it answers, which ambit does not offer";

function failed(message: string): UpstreamResult<never> {
  return { ok: false, code: "execution_failed", message };
}

function unavailable(message: string): UpstreamResult<never> {
  return { ok: false, code: "not_available", message };
}

const STOPPED: UpstreamResult<never> = { ok: false, code: "stopped", message: "the call was cancelled" };
