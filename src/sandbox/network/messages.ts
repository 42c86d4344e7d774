// Messages between daemon and broker. Any deviation refuses the whole message: parsers return null.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Denial, Reason } from "./denials.ts";
import {
  type FetchBrokerMessage,
  type FetchMessageToBroker,
  readFetchBrokerMessage,
  readFetchMessageToBroker,
} from "./fetch/fetch-messages.ts";
import {
  type CredentialAnswer,
  type CredentialQuery,
  type GitHosts,
  gitHosts,
  readCredentialAnswer,
  readCredentialQuery,
} from "./git/git-messages.ts";
import { chainsMax, denialsMax, linksPerChainMax, specsPerLinkMax } from "./limits.ts";
import type { ResolverChoice } from "./names/resolver.ts";
import type { Chains, InspectionMode } from "./network-grants.ts";
import { type DoorQuestion, type DoorReply, readDoorQuestion, readDoorReply } from "./relay/door.ts";
import {
  type RelayAnswer,
  type RelayQuestion,
  type RelayReport,
  readRelayAnswer,
  readRelayBrokerMessage,
} from "./relay/relay-messages.ts";
import { type Check, exactly, flag, isShape, list, orNull, text, whole } from "./shape.ts";

/** The purpose of a socket from a sandbox's launcher. */
export type SocketKind = "dns" | "dns-tcp" | "tcp" | "transparent" | "broker";

export interface OpenMessage {
  readonly kind: "open";
  readonly number: number;
  readonly sandbox: string;
  readonly chains: Chains;
  readonly resolver: ResolverChoice;
  /** The port of 127.0.0.1 inside where the model relay listens; null: there is none. */
  readonly relay: number | null;
  /** Null: no git is led to the broker. */
  readonly git: GitHosts | null;
}

/** Sent together with the socket. */
export interface SocketMessage {
  readonly kind: "give";
  readonly number: number;
  readonly sandbox: string;
  readonly socket: SocketKind;
}

/** Sent together with one end of a connection that a supervisor made for a program, and where the program wanted to. */
export interface ConnectionMessage extends Endpoint {
  readonly kind: "connection";
  readonly number: number;
  readonly sandbox: string;
}

/** An address as a program named it. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** `count` requests the counters since the last time; `close` ends the network and requests the rest. */
export interface CountRequest {
  readonly kind: "count" | "close";
  readonly number: number;
  readonly sandbox: string;
}

/** The daemon's answer to a question. `code` is set for a denial only. */
export interface JudgeAnswer {
  readonly kind: "decision";
  readonly number: number;
  readonly outcome: "allow" | "ask" | "deny";
  readonly code: DenialCode | null;
}

export type MessageToBroker =
  | OpenMessage
  | SocketMessage
  | ConnectionMessage
  | CountRequest
  | JudgeAnswer
  | CredentialAnswer
  | RelayAnswer
  | DoorReply
  | FetchMessageToBroker;

/** The result of `open` and `give`. */
export interface ResultMessage {
  readonly kind: "answered";
  readonly number: number;
  readonly done: boolean;
}

export interface NetworkCounters {
  readonly connections: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly denials: readonly Denial[];
  /** Denials beyond those that are named. */
  readonly unnamedDenials: number;
}

export interface CountersMessage {
  readonly kind: "counted";
  readonly number: number;
  readonly counters: NetworkCounters;
}

/**
 * Asks whether this may be dialled. `address`: what the name resolved to; null for a literal address, which is its own
 * host.
 */
export interface JudgeRequest {
  readonly kind: "connection-request";
  readonly number: number;
  readonly sandbox: string;
  readonly host: string;
  readonly address: string | null;
  readonly port: number;
  readonly manner: InspectionMode;
}

/** Sent for the first attempt only; the count follows at the end. `approval_required` asks for an approval. */
export interface DenialMessage {
  readonly kind: "denied";
  readonly sandbox: string;
  readonly code: DenialCode;
  readonly request: string;
  readonly reason: Reason;
}

export type BrokerMessage =
  | ResultMessage
  | CountersMessage
  | JudgeRequest
  | CredentialQuery
  | DenialMessage
  | RelayQuestion
  | DoorQuestion
  | RelayReport
  | FetchBrokerMessage;

const sandbox = text(64, /^[A-Za-z0-9_.-]+$/);
const number = whole(1, Number.MAX_SAFE_INTEGER);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const port = whole(1, 65_535);
const code = exactly<DenialCode>(...DENIAL_CODES);
const request = text(4096);
const chains: Check<Chains> = list(list(list(text(1_048_576), specsPerLinkMax), linksPerChainMax), chainsMax);
const resolver: Check<ResolverChoice> = orNull((value): value is { readonly servers: readonly string[] } =>
  isShape<{ readonly servers: readonly string[] }>(value, { servers: list(text(64, /^[0-9A-Fa-f.:[\]]+$/), 8) }),
);
const reason = exactly<Reason>(
  "authority",
  "daemon",
  "question",
  "name_differs",
  "name_missing",
  "name_hidden",
  "own_port",
  "name_unresolved",
  "protocol",
  "limit",
  "credential",
  "relay",
);
const denial: Check<Denial> = (value): value is Denial =>
  isShape<Denial>(value, { code, request, reason, times: number });
const counters: Check<NetworkCounters> = (value): value is NetworkCounters =>
  isShape<NetworkCounters>(value, {
    connections: count,
    bytesUp: count,
    bytesDown: count,
    denials: list(denial, denialsMax),
    unnamedDenials: count,
  });

export function readMessageToBroker(value: unknown): MessageToBroker | null {
  const opening = { number, sandbox, chains, resolver, relay: orNull(port), git: orNull(gitHosts) };
  if (isShape<OpenMessage>(value, { kind: exactly("open"), ...opening })) return value;
  const socket = exactly<SocketKind>("dns", "dns-tcp", "tcp", "transparent", "broker");
  if (isShape<SocketMessage>(value, { kind: exactly("give"), number, sandbox, socket })) return value;
  const address = text(64, /^[0-9A-Fa-f.:]+$/);
  if (isShape<ConnectionMessage>(value, { kind: exactly("connection"), number, sandbox, address, port })) return value;
  if (isShape<CountRequest>(value, { kind: exactly("count", "close"), number, sandbox })) return value;
  const outcome = exactly("allow", "ask", "deny");
  if (isShape<JudgeAnswer>(value, { kind: exactly("decision"), number, outcome, code: orNull(code) }))
    return (value.outcome === "deny") === (value.code !== null) ? value : null;
  const answered = readCredentialAnswer(value) ?? readRelayAnswer(value) ?? readDoorReply(value);
  return answered ?? readFetchMessageToBroker(value);
}

export function readBrokerMessage(value: unknown): BrokerMessage | null {
  if (isShape<ResultMessage>(value, { kind: exactly("answered"), number, done: flag })) return value;
  if (isShape<CountersMessage>(value, { kind: exactly("counted"), number, counters })) return value;
  const host = text(255);
  const manner = exactly<InspectionMode>("sni", "raw");
  const address = orNull(text(64));
  if (
    isShape<JudgeRequest>(value, { kind: exactly("connection-request"), number, sandbox, host, address, port, manner })
  )
    return value;
  if (isShape<DenialMessage>(value, { kind: exactly("denied"), sandbox, code, request, reason })) return value;
  const asked = readCredentialQuery(value) ?? readRelayBrokerMessage(value) ?? readDoorQuestion(value);
  return asked ?? readFetchBrokerMessage(value);
}
