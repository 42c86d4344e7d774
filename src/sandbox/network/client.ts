// The daemon's side of the broker: one process for all sandboxes, started when the first network is opened.

import { type Destination, parseHost } from "../../core/authority/axes/destination.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { parseAddress } from "../../core/base/address.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { type DoorSource, type ModelSource, type ModelUsage, NO_USAGE } from "../plan/sandboxes.ts";
import { BrokerProcess } from "./broker-process.ts";
import type { Reason } from "./denials.ts";
import { FetchClient, type FetchOptions, type FetchResult } from "./fetch/fetch-client.ts";
import { type HopQuestion, readFetchMessageToBroker } from "./fetch/fetch-messages.ts";
import {
  type CredentialAnswer,
  type CredentialDecision,
  type CredentialQuery,
  type CredentialRequest,
  type GitHosts,
  readCredentialAnswer,
} from "./git/git-messages.ts";
import type {
  BrokerMessage,
  ConnectionMessage,
  Endpoint,
  JudgeAnswer,
  JudgeRequest,
  MessageToBroker,
  NetworkCounters,
  SocketKind,
  SocketMessage,
} from "./messages.ts";
import { toAscii } from "./names/ascii.ts";
import type { ResolverChoice } from "./names/resolver.ts";
import { type Chains, connectRequest } from "./network-grants.ts";
import { type DoorQuestion, type DoorReply, readDoorReply } from "./relay/door.ts";
import { type RelayAnswer, type RelayQuestion, type RelayReport, readRelayAnswer } from "./relay/relay-messages.ts";
import { type Handle, isHandle } from "./sockets.ts";

export interface NetworkEvents {
  /** Called at the first denial of each kind. `approval_required` is a request for a person. */
  denied(code: DenialCode, request: string, reason: Reason): void;
  /** The broker exited, and with it every connection of this sandbox. It is not restarted automatically. */
  lost(lastWords: string): void;
}

export interface NetworkOptions {
  /** Chosen by the daemon; unique among open sandboxes. */
  readonly sandbox: string;
  readonly chains: Chains;
  readonly resolver: ResolverChoice;
  /** Makes the final decision on every address before it is dialled. */
  readonly judge: Judge;
  /** Hosts whose git traffic goes through the relay, and who decides about their credentials. */
  readonly git?: GitHosts | null;
  credential?(request: CredentialRequest): Promise<CredentialDecision>;
  /** The port of the model relay inside, and who decides its requests; absent: there is none. */
  readonly relay?: number | null;
  readonly model?: ModelSource;
  /** Answers the door, which is on the relay's port. */
  readonly door?: DoorSource;
  readonly events: NetworkEvents;
}

export interface OpenNetwork {
  /** A socket from the launcher; afterwards it belongs to the broker, or is closed. */
  give(socket: SocketKind, handle: unknown): Promise<boolean>;
  /** One end of a connection that a supervisor made; afterwards it belongs to the broker, or is closed. */
  connect(to: Endpoint, handle: unknown): Promise<boolean>;
  /** Counters since the last call. Null where the broker has exited, and its counters with it. */
  count(): Promise<NetworkCounters | null>;
  /** Closes every connection and returns the last counters. */
  close(): Promise<NetworkCounters | null>;
}

type Answer = Extract<BrokerMessage, { readonly kind: "answered" | "counted" }>;

/** One process and its open networks. */
interface Running {
  readonly process: BrokerProcess;
  readonly networks: Map<string, NetworkOptions>;
  readonly waiting: Map<number, (answer: Answer | null) => void>;
  readonly fetches: Map<number, FetchClient>;
  /** Requests to models that were let through and are not reported yet. */
  readonly relayed: Map<number, (usage: ModelUsage) => void>;
}

export class BrokerClient {
  readonly #bundle: string;
  readonly #authorities: string | null;
  #running: Running | null = null;
  #number = 0;

  /**
   * `bundle`: the broker's program. `authorities`: for tests only, certificates that fetches trust instead of the usual
   * ones.
   */
  constructor(bundle: string, authorities: string | null = null) {
    this.#bundle = bundle;
    this.#authorities = authorities;
  }

  /** Of the running process, if any. */
  get pid(): number | null {
    return this.#running?.process.pid ?? null;
  }

  /** Null: the broker could not be started, or did not understand the grants. Nothing is open then. */
  async open(wish: NetworkOptions): Promise<OpenNetwork | null> {
    const running = this.#start();
    const { sandbox, chains, resolver, relay = null, git = null } = wish;
    if (running.networks.has(sandbox)) return null;
    running.networks.set(sandbox, wish);
    const opening = { kind: "open", sandbox, chains, resolver, relay, git } as const;
    const answer = await this.#ask(running, (number) => ({ ...opening, number }));
    if (answer?.kind !== "answered" || !answer.done) {
      running.networks.delete(sandbox);
      return null;
    }
    return {
      give: (socket, handle) => this.#give(running, handle, (number) => ({ kind: "give", number, sandbox, socket })),
      connect: (to, handle) =>
        this.#give(running, handle, (number) => ({ kind: "connection", number, sandbox, ...to })),
      count: async () => (running.networks.get(sandbox) === wish ? this.#count(running, "count", sandbox) : null),
      close: async () => {
        if (running.networks.get(sandbox) !== wish) return null;
        running.networks.delete(sandbox);
        return this.#count(running, "close", sandbox);
      },
    };
  }

  /** HTTP for our own tools, performed by the broker. Never rejects. */
  async fetch(wish: FetchOptions): Promise<FetchResult> {
    const running = this.#start();
    const number = ++this.#number;
    const over = (): void => {
      running.fetches.delete(number);
      this.#rest(running);
    };
    let isRead = true;
    const fetching = new FetchClient(
      wish,
      number,
      (message) => {
        // A message that the broker cannot parse would end it, and every sandbox's network with it.
        if (readFetchMessageToBroker(message) === null) isRead = false;
        else running.process.send(message);
      },
      over,
    );
    running.fetches.set(number, fetching);
    running.process.ref(true);
    const fetched = fetching.start(this.#authorities);
    if (!isRead) fetching.refused("invalid_input", "the request is too large, or is not supported");
    else if (running.process.isOver) fetching.refused("not_available", "the broker has exited");
    return fetched;
  }

  async stop(): Promise<void> {
    await this.#running?.process.stop();
  }

  #start(): Running {
    if (this.#running !== null && !this.#running.process.isOver) return this.#running;
    const networks: Running["networks"] = new Map();
    const waiting: Running["waiting"] = new Map();
    const fetches: Running["fetches"] = new Map();
    const relayed: Running["relayed"] = new Map();
    const process = new BrokerProcess(this.#bundle, {
      message: (message) => this.#take(running, message),
      over: (lastWords) => {
        const lost = [...networks.values()];
        networks.clear();
        for (const give of [...waiting.values()]) give(null);
        for (const fetching of [...fetches.values()]) fetching.refused("not_available", "the broker has exited");
        for (const settle of [...relayed.values()]) settle(UNREPORTED);
        relayed.clear();
        for (const { events } of lost) events.lost(lastWords);
      },
    });
    const running: Running = { process, networks, waiting, fetches, relayed };
    this.#running = running;
    return running;
  }

  #ask(
    running: Running,
    question: (number: number) => MessageToBroker,
    handle: Handle | null = null,
  ): Promise<Answer | null> {
    const number = ++this.#number;
    return new Promise((give) => {
      if (running.process.isOver) {
        handle?.close();
        give(null);
        return;
      }
      running.process.ref(true);
      running.waiting.set(number, (answer) => {
        running.waiting.delete(number);
        this.#rest(running);
        give(answer);
      });
      if (handle === null) running.process.send(question(number));
      else running.process.give(question(number), handle);
    });
  }

  #rest({ waiting, fetches, process }: Running): void {
    if (waiting.size === 0 && fetches.size === 0) process.ref(false);
  }

  async #count(running: Running, kind: "count" | "close", sandbox: string): Promise<NetworkCounters | null> {
    const counted = await this.#ask(running, (number) => ({ kind, number, sandbox }));
    return counted?.kind === "counted" ? counted.counters : null;
  }

  async #give(
    running: Running,
    handle: unknown,
    message: (number: number) => SocketMessage | ConnectionMessage,
  ): Promise<boolean> {
    if (!isHandle(handle)) return false;
    const answer = await this.#ask(running, message, handle);
    return answer?.kind === "answered" && answer.done;
  }

  #take(running: Running, message: BrokerMessage): void {
    switch (message.kind) {
      case "answered":
      case "counted":
        running.waiting.get(message.number)?.(message);
        return;
      case "connection-request":
        running.process.send(judged(running.networks.get(message.sandbox), message));
        return;
      case "credential-request":
        void this.#credit(running, message);
        return;
      case "model-request":
        void this.#relay(running, message);
        return;
      case "door-request":
        void this.#answerDoor(running, message);
        return;
      case "model-report":
        this.#relayed(running, message);
        return;
      case "hop-request":
        void this.#hop(running, message);
        return;
      case "fetch-head":
      case "fetch-bytes":
      case "fetch-end":
        running.fetches.get(message.number)?.take(message);
        return;
      case "denied":
        running.networks.get(message.sandbox)?.events.denied(message.code, message.request, message.reason);
        return;
      default:
        message satisfies never;
    }
  }

  async #hop(running: Running, hopping: HopQuestion): Promise<void> {
    const word = await running.fetches.get(hopping.fetch)?.judged(hopping);
    const denied: JudgeAnswer = { kind: "decision", number: hopping.number, outcome: "deny", code: "not_available" };
    running.process.send(word ?? denied);
  }

  async #relay(running: Running, { number, sandbox, kind: _, ...call }: RelayQuestion): Promise<void> {
    const source = running.networks.get(sandbox)?.model;
    const answer = await source?.ask(call).catch(() => null);
    if (source === undefined || answer === null || answer === undefined || !answer.ok) {
      const failed = { code: "not_available", message: "the daemon failed" } as const;
      const { code, message } = answer?.ok === false ? answer : failed;
      running.process.send({ kind: "model-answer", number, code, message: message.slice(0, 4_096), ...NO_UPSTREAM });
      return;
    }
    const { id, url, header, prefix, value, keepsPrompt, outputTokens } = answer;
    const upstream = { url, header, prefix, value, keepsPrompt };
    const allowed: RelayAnswer = { kind: "model-answer", number, code: null, message: "", outputTokens, upstream };
    // A message that the broker cannot parse would end it, and every sandbox's network with it.
    if (readRelayAnswer(allowed) === null) {
      source.used(id, NO_USAGE);
      const message = "the address or the stored credential cannot be used";
      running.process.send({ kind: "model-answer", number, code: "secret_refused", message, ...NO_UPSTREAM });
      return;
    }
    running.relayed.set(number, (usage) => source.used(id, usage));
    running.process.send(allowed);
  }

  async #answerDoor(running: Running, { number, sandbox, kind: _, ...call }: DoorQuestion): Promise<void> {
    const answer = await running.networks
      .get(sandbox)
      ?.door?.(call)
      .catch(() => null);
    const reply: DoorReply = {
      kind: "door-answer",
      number,
      ...(answer ?? { status: 503, body: "the daemon failed\n" }),
    };
    // A message that the broker cannot parse would end it.
    const isWhole = readDoorReply(reply) !== null;
    running.process.send(isWhole ? reply : { ...reply, status: 507, body: "the response is too large\n" });
  }

  #relayed({ relayed }: Running, { kind: _, number, ...usage }: RelayReport): void {
    relayed.get(number)?.(usage);
    relayed.delete(number);
  }

  async #credit(running: Running, { number, sandbox, kind: _, ...request }: CredentialQuery): Promise<void> {
    const decided = await running.networks
      .get(sandbox)
      ?.credential?.(request)
      .catch(() => null);
    const denied = { kind: "credential-answer", number, credential: null } as const;
    const failed: CredentialAnswer = { ...denied, code: "not_available", message: "the daemon failed" };
    if (decided === null || decided === undefined) return running.process.send(failed);
    const { credential } = decided;
    const answer: CredentialAnswer =
      credential === null
        ? { ...denied, code: decided.code, message: decided.message.slice(0, 4_096) }
        : { kind: "credential-answer", number, credential, code: null, message: "" };
    // A message that the broker cannot parse would end it, and every sandbox's network with it.
    const unusable: CredentialAnswer = { ...denied, code: "secret_refused", message: "the kept secret cannot be used" };
    running.process.send(readCredentialAnswer(answer) === null ? unusable : answer);
  }
}

const NO_UPSTREAM = { outputTokens: null, upstream: null } as const;

/** Of a broker that exited: the request may have been sent. */
const UNREPORTED: ModelUsage = { ...NO_USAGE, isSent: true };

/** A closed network, a host that does not parse, a judge that fails: denied. */
function judged(wish: NetworkOptions | undefined, message: JudgeRequest): JudgeAnswer {
  const { number } = message;
  const denied = (code: DenialCode): JudgeAnswer => ({ kind: "decision", number, outcome: "deny", code });
  const host = hostOf(message);
  if (wish === undefined || host === null) return denied("not_available");
  try {
    const decision = wish.judge(connectRequest(host, message.port, message.manner));
    if (decision.outcome === "deny") return denied(decision.code);
    return { kind: "decision", number, outcome: decision.outcome, code: null };
  } catch {
    return denied("not_available");
  }
}

function hostOf({ host, address }: JudgeRequest): Destination | null {
  const parsed = parseHost(host, toAscii);
  if (!parsed.ok) return null;
  if (parsed.value.name === null) return address === null ? parsed.value : null;
  const led = parseAddress(address ?? "");
  return led === null ? null : { name: parsed.value.name, address: led };
}
