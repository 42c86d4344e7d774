// The broker without its process: handles messages of the daemon, and manages the networks.

import { destinationText } from "../../core/authority/axes/destination.ts";
import { addressText } from "../../core/base/address.ts";
import { NO_USAGE } from "../plan/sandboxes.ts";
import type { DaemonDecision } from "./connection.ts";
import { Fetches } from "./fetch/fetch.ts";
import type { CredentialAnswer, CredentialDecision } from "./git/git-messages.ts";
import { daemonMilliseconds, sandboxesMax } from "./limits.ts";
import {
  type BrokerMessage,
  type ConnectionMessage,
  type CountRequest,
  type JudgeAnswer,
  type OpenMessage,
  readMessageToBroker,
  type SocketMessage,
} from "./messages.ts";
import { resolverOf } from "./names/resolver.ts";
import { Network, type NetworkDaemon } from "./network.ts";
import { NetworkGrants, readChains } from "./network-grants.ts";
import type { DoorReply } from "./relay/door.ts";
import { ByteBudget, brokerBodyBytesMax } from "./relay/relay-body.ts";
import type { RelayAnswer } from "./relay/relay-messages.ts";
import { isHandle } from "./sockets.ts";

type DaemonAnswer = JudgeAnswer | CredentialAnswer | RelayAnswer | DoorReply;

export class Broker {
  readonly #tell: (message: BrokerMessage) => void;
  readonly #now: () => number;
  readonly #networks = new Map<string, Network>();
  readonly #waiting = new Map<number, (answer: DaemonAnswer | null) => void>();
  readonly #fetches: Fetches;
  readonly #bodies = new ByteBudget(brokerBodyBytesMax);
  #asked = 0;

  constructor(tell: (message: BrokerMessage) => void, now: () => number) {
    this.#tell = tell;
    this.#now = now;
    this.#fetches = new Fetches({
      tell,
      now,
      ask: async (question) => {
        const answer = await this.#ask((number) => ({ kind: "hop-request", number, ...question }));
        if (answer?.kind !== "decision") return "not_available";
        if (answer.outcome === "ask") return "approval_required";
        return answer.outcome === "allow" ? null : (answer.code ?? "not_available");
      },
    });
  }

  /** False: the message does not parse, so nothing from the daemon can be trusted to be complete. */
  async take(value: unknown, handle: unknown): Promise<boolean> {
    const message = readMessageToBroker(value);
    const takesHandle = message?.kind === "give" || message?.kind === "connection";
    if (isHandle(handle) && !takesHandle) handle.close();
    if (message === null) return false;
    switch (message.kind) {
      case "open":
        this.#tell({ kind: "answered", number: message.number, done: this.#open(message) });
        return true;
      case "give":
        this.#tell({ kind: "answered", number: message.number, done: await this.#give(message, handle) });
        return true;
      case "connection":
        this.#tell({ kind: "answered", number: message.number, done: this.#connect(message, handle) });
        return true;
      case "count":
      case "close":
        await this.#count(message);
        return true;
      case "decision":
      case "credential-answer":
      case "door-answer":
        this.#waiting.get(message.number)?.(message);
        return true;
      case "model-answer":
        this.#answerRelay(message);
        return true;
      case "fetch":
      case "fetch-more":
      case "fetch-stop":
        this.#fetches.take(message);
        return true;
      default:
        return message satisfies never;
    }
  }

  /** The daemon counts an answer that came too late as a use until it is reported. */
  #answerRelay(answer: RelayAnswer): void {
    const settle = this.#waiting.get(answer.number);
    if (settle !== undefined) settle(answer);
    else if (answer.upstream !== null) this.#tell({ kind: "model-report", number: answer.number, ...NO_USAGE });
  }

  #open({ sandbox, chains, resolver, relay, git }: OpenMessage): boolean {
    if (this.#networks.has(sandbox) || this.#networks.size >= sandboxesMax) return false;
    const authority = readChains(chains);
    const resolve = resolverOf(resolver, this.#now);
    if (authority === null || resolve === null) return false;
    const grants = new NetworkGrants(authority, this.#now);
    const models = relay === null ? null : { port: relay, bodies: this.#bodies };
    this.#networks.set(sandbox, new Network(grants, resolve, this.#daemon(sandbox), this.#now, models, git));
    return true;
  }

  async #give({ sandbox, socket }: SocketMessage, handle: unknown): Promise<boolean> {
    const isTaken = (await this.#networks.get(sandbox)?.give(socket, handle)) ?? false;
    if (!isTaken && isHandle(handle)) handle.close();
    return isTaken;
  }

  #connect({ sandbox, address, port }: ConnectionMessage, handle: unknown): boolean {
    const isTaken = this.#networks.get(sandbox)?.connect({ address, port }, handle) ?? false;
    if (!isTaken && isHandle(handle)) handle.close();
    return isTaken;
  }

  async #count({ kind, sandbox, number }: CountRequest): Promise<void> {
    const network = this.#networks.get(sandbox);
    if (network === undefined) {
      this.#tell({ kind: "answered", number, done: false });
      return;
    }
    if (kind === "close") {
      this.#networks.delete(sandbox);
      await network.close();
    }
    this.#tell({ kind: "counted", number, counters: network.count() });
  }

  #daemon(sandbox: string): NetworkDaemon {
    return {
      ask: async (host, port, manner): Promise<DaemonDecision | null> => {
        const address = host.name === null || host.address === null ? null : addressText(host.address);
        const answer = await this.#ask((number) => ({
          kind: "connection-request",
          number,
          sandbox,
          host: destinationText(host),
          address,
          port,
          manner,
        }));
        if (answer?.kind !== "decision") return null;
        if (answer.outcome !== "deny") return { outcome: answer.outcome };
        return { outcome: "deny", code: answer.code ?? "not_available" };
      },
      credential: async ({ host, repository, service }): Promise<CredentialDecision | null> => {
        // A person may have to approve it: the daemon bounds that.
        const question = { kind: "credential-request", sandbox, host, repository, service } as const;
        const answer = await this.#ask((number) => ({ ...question, number }), null);
        if (answer?.kind !== "credential-answer") return null;
        const { credential, code, message } = answer;
        return credential === null ? { credential, code: code ?? "not_available", message } : { credential };
      },
      relay: async (call) => {
        // As long as an approval takes: the daemon answers when its own wait is over, or with the end of the session.
        const answer = await this.#ask((number) => ({ kind: "model-request", number, sandbox, ...call }), null);
        return answer?.kind === "model-answer" ? answer : null;
      },
      door: async (call) => {
        // As long as the call takes: the daemon ends it with its session.
        const answer = await this.#ask((number) => ({ kind: "door-request", number, sandbox, ...call }), null);
        return answer?.kind === "door-answer" ? { status: answer.status, body: answer.body } : null;
      },
      relayed: (report) => this.#tell({ kind: "model-report", ...report }),
      denied: (code, request, reason) => this.#tell({ kind: "denied", sandbox, code, request, reason }),
    };
  }

  /** A timeout counts as no answer. */
  #ask(
    question: (number: number) => BrokerMessage,
    milliseconds: number | null = daemonMilliseconds,
  ): Promise<DaemonAnswer | null> {
    const number = ++this.#asked;
    return new Promise((give) => {
      const settle = (answer: DaemonAnswer | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(number);
        give(answer);
      };
      const timer = milliseconds === null ? undefined : setTimeout(() => settle(null), milliseconds);
      this.#waiting.set(number, settle);
      this.#tell(question(number));
    });
  }
}
