// The daemon's side of the Model Context Protocol with one server, in both eras: it asks, and the server answers. What the server
// asks for in turn goes to the call that it works on, where that was offered to it; everything else is refused.
import type { DenialCode } from "../../core/authority/decision.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { errorText } from "../../gateway/call-result.ts";
import { readDescription, type ServerDescription } from "../../gateway/definitions.ts";
import { type CallEvents, leastUrgent, type ServerOffers } from "./call-events.ts";
import type { ServerConnection } from "./server-connection.ts";
import {
  CLIENT,
  capabilitiesFor,
  capabilitiesIn,
  failedCall,
  isUnfinished,
  META,
  needsSignIn,
  PROTOCOLS,
  readMessage,
  STATELESS,
  STOPPED,
  sentParams,
  UNFINISHED,
  type UpstreamFailure,
  type UpstreamResult,
  unavailable,
} from "./server-message.ts";
import { ServerQuestions } from "./server-questions.ts";
import { ServerWatches, tellsOfChanges } from "./server-watches.ts";
import { fetchToolPages } from "./tool-pages.ts";

const startMilliseconds = 30_000;
const [pingMilliseconds, relistMilliseconds] = [5_000, 1_000];
/** How long the description of a server without change notifications is cached. */
const pollMilliseconds = 30_000;
const watchMilliseconds = 86_400_000;
/** Calls that run in one server, and calls that run or are queued. */
const callsAtOnceMax = 16;
const waitingMax = 128;
/** Messages that break the protocol before the process is ended. */
const faultsMax = 100;
interface Pending {
  /** Null for a request of which the server can say nothing but its answer. */
  readonly events: CallEvents | null;
  give(answer: UpstreamResult<JsonObject>): void;
  /** Its time does not run while the server waits for an answer of ours. */
  hold(isHeld: boolean): void;
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
  readonly offers: ServerOffers;
  readonly #questions: ServerQuestions;
  readonly watches: ServerWatches;
  /** As the server was last told; null before. */
  #logLevel: string | null = null;
  /** When its list was last asked for. */
  #listed = 0;
  #description: ServerDescription | null = null;
  #relist: NodeJS.Timeout | null = null;
  /** Set by its owner; called when the server asked for something that it is not offered. */
  onRefused: (method: string, code: DenialCode) => void = () => undefined;
  /** Set by its owner; called when the server changed what it says about itself. */
  onDescribed: (description: ServerDescription) => void = () => undefined;
  /** Set by its owner; called when the server has other resources or prompts. */
  onListChanged: () => void = () => undefined;
  /** The first description, or why there is none. */
  readonly started: Promise<UpstreamResult<ServerDescription>>;
  /** Why it has ended, once it has. */
  readonly ended: Promise<string>;

  constructor(
    name: string,
    connection: ServerConnection,
    offers: ServerOffers,
    redacted: <T extends Json>(value: T) => T,
  ) {
    this.#name = name;
    this.offers = offers;
    this.#redacted = redacted;
    this.#connection = connection;
    this.#questions = new ServerQuestions({
      offers,
      say: (message) => void connection.say(message),
      receiving: () => {
        const [id, pending] = [...this.#pending].find(([, { events }]) => events !== null) ?? [];
        return id === undefined || !pending?.events ? null : { id, events: pending.events };
      },
      hold: (call, isHeld) => this.#pending.get(call)?.hold(isHeld),
      refused: (method, code) => this.onRefused(method, code),
    });
    this.watches = new ServerWatches({
      isStateless: () => this.#isStateless,
      capabilities: () => capabilitiesIn(this.#initialized),
      missed: () => this.#missed(),
      // A request that stays open has no limit of time but its caller's.
      ask: (method, params, signal) =>
        this.#ask(method, params, method === "subscriptions/listen" ? watchMilliseconds : startMilliseconds, signal),
    });
    connection.hear({
      heard: (text) => this.#hear(text),
      failed: (id, message, code) =>
        this.#pending.get(id)?.give({ ...unavailable(message), ...(code === undefined ? {} : { code }) }),
      isOpen: (id) => this.#pending.has(id),
      missed: () => this.#missed(),
    });
    this.ended = connection.ended.then((why) => {
      if (this.#relist !== null) clearTimeout(this.#relist);
      this.watches.stop();
      for (const [, { give }] of this.#pending) give(failedCall(`the server ended during the call: ${why}`));
      this.#pending.clear();
      return why;
    });
    this.started = this.#start().catch(() => this.#failed("its description cannot be parsed"));
  }

  get isOver(): boolean {
    return this.#connection.isOver;
  }

  /** Whether it is remote with an open event stream: then it is cheap to keep connected. */
  get isListening(): boolean {
    return this.#connection.isRemote && (this.#connection.isReceiving || this.watches.isListening);
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.length === 0 && this.watches.isEmpty;
  }

  /** Reports, once for each reason, that the server asked for something and does not get it. */
  refused(method: string, code: DenialCode): void {
    this.#questions.refused(method, code);
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

  /** Asks again what the server says about itself, where that may have changed unnoticed, or `always`. */
  async refresh(always: boolean): Promise<void> {
    const age = performance.now() - this.#listed;
    const isReceiving = this.#isStateless ? this.watches.hearsOfTools : this.#connection.isReceiving;
    const isOld = always ? age > relistMilliseconds : !isReceiving && age > pollMilliseconds;
    if (isOld && this.#description !== null && !this.isOver) await this.#list();
  }

  /** Whether it said at its start that it has such things. */
  has(capability: string): boolean {
    const capabilities = capabilitiesIn(this.#initialized);
    return capabilities !== null && isJsonObject(member(capabilities, capability));
  }

  /** A request on behalf of a session; its turn comes when others have been answered. With `notifications` it may need input first. */
  async request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    milliseconds: number,
    events: CallEvents | null = null,
  ): Promise<UpstreamResult<JsonObject>> {
    if (this.#running + this.#queue.length >= waitingMax)
      return unavailable("too many calls of this server are queued");
    if (this.#running >= callsAtOnceMax) await new Promise<void>((go) => this.#queue.push(go));
    else this.#running++;
    try {
      if (events !== null) this.#tellLevel(events);
      return await this.#ask(method, params, milliseconds, signal, events);
    } finally {
      // The next call takes over this one's place.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async #start(): Promise<UpstreamResult<ServerDescription>> {
    const params = {
      protocolVersion: PROTOCOLS[0] ?? "",
      capabilities: capabilitiesFor(this.offers),
      clientInfo: CLIENT,
    };
    const initialized = await this.#ask("initialize", params, startMilliseconds, null);
    if (!initialized.ok)
      return needsSignIn(initialized) ? this.#failed(initialized) : this.#discover(initialized.message);
    const protocol = member(initialized.value, "protocolVersion");
    if (typeof protocol !== "string" || !PROTOCOLS.includes(protocol))
      return this.#failed("it uses an unknown protocol version");
    this.#initialized = initialized.value;
    this.#connection.speak(protocol);
    this.#connection.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    if (tellsOfChanges(capabilitiesIn(initialized.value))) this.#connection.listen();
    return this.#list();
  }

  /** A server of the newer era has no start; `why`: what the older one was answered with. */
  async #discover(why: string): Promise<UpstreamResult<ServerDescription>> {
    if (this.isOver) return this.#failed(why);
    this.#isStateless = true;
    this.#connection.speak(STATELESS);
    const discovered = await this.#ask("server/discover", {}, startMilliseconds, null);
    if (!discovered.ok) return this.#failed(needsSignIn(discovered) ? discovered : why);
    const versions = member(discovered.value, "supportedVersions");
    if (!isJsonList(versions) || !versions.includes(STATELESS)) return this.#failed(why);
    const meta = member(discovered.value, "_meta");
    const info = isJsonObject(meta) ? member(meta, `${META}serverInfo`) : undefined;
    this.#initialized = { ...discovered.value, ...(info === undefined ? {} : { serverInfo: info }) };
    this.watches.listenToLists();
    return this.#list();
  }

  /** The older era has one level for everything: the least urgent that an open call wants. Nothing waits for the answer. */
  #tellLevel(events: CallEvents): void {
    const level = leastUrgent([events, ...[...this.#pending.values()].map((one) => one.events)]);
    if (this.#isStateless || level === null || level === this.#logLevel || !this.has("logging")) return;
    this.#logLevel = level;
    void this.#ask("logging/setLevel", { level }, startMilliseconds, null);
  }

  async #list(): Promise<UpstreamResult<ServerDescription>> {
    this.#listed = performance.now();
    const listed = this.has("tools")
      ? await fetchToolPages((params) => this.#ask("tools/list", params, startMilliseconds, null))
      : { ok: true as const, value: [] };
    if (!listed.ok) return this.#failed(needsSignIn(listed) ? listed : listed.message);
    // It may have the value of a secret, and its description is what models read.
    const description = readDescription(this.#name, this.#redacted(this.#initialized), this.#redacted(listed.value));
    this.#description = description;
    this.onDescribed(description);
    return { ok: true, value: description };
  }

  /** A server that does not start as it should is of no use. That a person has to sign in is told as such at every step. */
  #failed(why: string | UpstreamFailure): UpstreamResult<never> {
    this.end(null);
    return typeof why === "string" ? unavailable(why) : why;
  }

  #ask(
    method: string,
    params: JsonObject,
    milliseconds: number,
    signal: AbortSignal | null,
    events: CallEvents | null = null,
  ): Promise<UpstreamResult<JsonObject>> {
    if (signal?.aborted === true) return Promise.resolve(STOPPED);
    const id = ++this.#number;
    return new Promise((done) => {
      let timer: NodeJS.Timeout | undefined;
      let left = milliseconds;
      let runningSince: number | null = null;
      const onStop = (): void => cancel(STOPPED);
      const give = (answer: UpstreamResult<JsonObject>): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onStop);
        this.#pending.delete(id);
        this.#questions.settled(id);
        done(answer);
      };
      const cancel = (answer: UpstreamResult<JsonObject>): void => {
        if (!this.#pending.has(id)) return;
        this.#connection.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
        give(answer);
      };
      const run = (): void => {
        runningSince = performance.now();
        timer = setTimeout(() => {
          cancel(failedCall(`the server took more than ${milliseconds / 1000} seconds`));
          if (method !== "ping" && !this.#isStateless) void this.#check();
        }, left);
      };
      // INVARIANT: what the server has used of its time is not given back.
      const hold = (isHeld: boolean): void => {
        clearTimeout(timer);
        if (runningSince !== null) left = Math.max(0, left - (performance.now() - runningSince));
        runningSince = null;
        if (!isHeld) run();
      };
      this.#pending.set(id, { events, give, hold });
      const sent = sentParams(params, id, events, this.#isStateless ? this.offers : null);
      if (!this.#connection.say({ jsonrpc: "2.0", id, method, params: sent })) {
        give(unavailable("the server has exited, or does not read its input"));
        return;
      }
      run();
      signal?.addEventListener("abort", onStop, { once: true });
      if (this.isOver) void this.ended.then((why) => give(unavailable(`the server ended: ${why}`)));
    });
  }

  /** After a call that took too long: a server that does not even answer a ping is ended. */
  async #check(): Promise<void> {
    const answer = await this.#ask("ping", {}, pingMilliseconds, null);
    if (!answer.ok && !this.isOver) this.end("it no longer responds");
  }

  #hear(text: string | null): boolean {
    const read = readMessage(text);
    if (read.kind === "blank") return true;
    if (read.kind === "fault") {
      if (!read.isFatal) return this.#fault(read.why);
      this.end(`it breaks the protocol: ${read.why}`);
      return false;
    }
    const { message } = read;
    const method = member(message, "method");
    const id = member(message, "id");
    if (typeof method === "string") {
      if (id === undefined) return this.#notified(method, member(message, "params"));
      const fault = this.#questions.request(method, id, member(message, "params"));
      return fault === null || this.#fault(fault);
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    // An answer to a cancelled request, or to one that was never made.
    if (pending === undefined) return this.#fault("it responds to requests that are not open");
    const [result, error] = [member(message, "result"), member(message, "error")];
    if (isUnfinished(result) && (pending.events === null || member(result, "resultType") !== "input_required")) {
      this.#questions.refused("input_required", "not_available");
      pending.give(failedCall(UNFINISHED));
    } else if (isJsonObject(result)) pending.give({ ok: true, value: result });
    else if (isJsonObject(error)) pending.give(failedCall(errorText(error)));
    else pending.give(failedCall("the server's response has neither a result nor an error"));
    return true;
  }

  #notified(method: string, params: Json | undefined): boolean {
    const told = isJsonObject(params) ? params : {};
    switch (method) {
      case "notifications/tools/list_changed":
        this.#listSoon();
        return true;
      case "notifications/progress":
        this.#pending.get(Number(member(told, "progressToken")))?.events?.progressed(told);
        return true;
      case "notifications/message":
        for (const { events } of this.#pending.values()) if (events?.logged(told) === true) break;
        return true;
      case "notifications/resources/updated":
        this.watches.updated(told);
        return true;
      case "notifications/resources/list_changed":
      case "notifications/prompts/list_changed":
        this.onListChanged();
        return true;
      case "notifications/subscriptions/acknowledged":
        this.watches.acknowledged(told);
        return true;
      case "notifications/cancelled":
        this.#questions.dropped(member(told, "requestId"));
        return true;
      default:
        return true;
    }
  }

  #listSoon(): void {
    if (this.#description === null || this.#relist !== null) return;
    this.#relist = setTimeout(() => {
      this.#relist = null;
      void this.#list().catch(() => this.end("it breaks the protocol: its description cannot be parsed"));
    }, relistMilliseconds);
  }

  #missed(): void {
    this.#listSoon();
    this.onListChanged();
    this.watches.allUpdated();
  }

  /** False once there were too many: the process is ended, and the rest of its output dropped. */
  #fault(what: string): boolean {
    if (++this.#faults <= faultsMax) return true;
    this.end(`it breaks the protocol: ${what}`);
    return false;
  }
}
