// What the owner and the broker say to each other. Anything odd is refused whole: readers answer null.
import { DENIAL_CODES, type DenialCode } from "../../core/authority/decision.ts";
import type { Credential, CredentialRequest } from "./credential-request.ts";
import type { Denial, Reason } from "./denials.ts";
import {
  type FetchBrokerMessage,
  type FetchOwnerMessage,
  readFetchBrokerMessage,
  readFetchOwnerMessage,
} from "./fetch/fetch-messages.ts";
import type { Chains, Manner } from "./granted.ts";
import { chainsMax, credentialBytesMax, denialsMax, linksPerChainMax, specsPerLinkMax } from "./limits.ts";
import type { ResolverChoice } from "./names/resolver.ts";
import { type Check, exactly, flag, isShape, list, orNull, text, whole } from "./shape.ts";

/** What a socket that came from a sandbox's launcher is for. */
export type SocketKind = "dns" | "dns-tcp" | "tcp" | "transparent" | "broker";

export interface Open {
  readonly kind: "open";
  readonly number: number;
  readonly sandbox: string;
  readonly chains: Chains;
  readonly resolver: ResolverChoice;
}

/** Comes with the socket itself. */
export interface Give {
  readonly kind: "give";
  readonly number: number;
  readonly sandbox: string;
  readonly socket: SocketKind;
}

/** `count` tells what there was since the last time; `close` ends the network and tells the rest. */
export interface Count {
  readonly kind: "count" | "close";
  readonly number: number;
  readonly sandbox: string;
}

/** The owner's word on a question of ours. `code` is of a denial alone. */
export interface Judged {
  readonly kind: "judged";
  readonly number: number;
  readonly outcome: "allow" | "ask" | "deny";
  readonly code: DenialCode | null;
}

export interface Credited {
  readonly kind: "credited";
  readonly number: number;
  readonly credential: Credential | null;
}

export type OwnerMessage = Open | Give | Count | Judged | Credited | FetchOwnerMessage;

/** Done, or not: an answer to `open` and `give`. */
export interface Answered {
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

export interface Counted {
  readonly kind: "counted";
  readonly number: number;
  readonly counters: NetworkCounters;
}

/** May this be dialled? `address` is where the name led; null for a literal address, which is its own host. */
export interface Judging {
  readonly kind: "judging";
  readonly number: number;
  readonly sandbox: string;
  readonly host: string;
  readonly address: string | null;
  readonly port: number;
  readonly manner: Manner;
}

export interface Crediting {
  readonly kind: "crediting";
  readonly number: number;
  readonly sandbox: string;
  readonly request: CredentialRequest;
}

/** Told the first time only; how often is told at the end. `approval_required` is a request to be raised. */
export interface Denied {
  readonly kind: "denied";
  readonly sandbox: string;
  readonly code: DenialCode;
  readonly request: string;
  readonly reason: Reason;
}

export type BrokerMessage = Answered | Counted | Judging | Crediting | Denied | FetchBrokerMessage;

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
const credential: Check<Credential> = (value): value is Credential =>
  isShape<Credential>(value, { username: text(credentialBytesMax), password: text(credentialBytesMax) });
const credentialRequest: Check<CredentialRequest> = (value): value is CredentialRequest =>
  isShape<CredentialRequest>(value, {
    protocol: text(16),
    host: text(255),
    path: orNull(text(credentialBytesMax)),
  });
const reason = exactly<Reason>(
  "authority",
  "owner",
  "question",
  "name_differs",
  "name_missing",
  "name_hidden",
  "name_unresolved",
  "protocol",
  "limit",
  "credential",
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

export function readOwnerMessage(value: unknown): OwnerMessage | null {
  if (isShape<Open>(value, { kind: exactly("open"), number, sandbox, chains, resolver })) return value;
  const socket = exactly<SocketKind>("dns", "dns-tcp", "tcp", "transparent", "broker");
  if (isShape<Give>(value, { kind: exactly("give"), number, sandbox, socket })) return value;
  if (isShape<Count>(value, { kind: exactly("count", "close"), number, sandbox })) return value;
  const outcome = exactly("allow", "ask", "deny");
  if (isShape<Judged>(value, { kind: exactly("judged"), number, outcome, code: orNull(code) }))
    return (value.outcome === "deny") === (value.code !== null) ? value : null;
  if (isShape<Credited>(value, { kind: exactly("credited"), number, credential: orNull(credential) })) return value;
  return readFetchOwnerMessage(value);
}

export function readBrokerMessage(value: unknown): BrokerMessage | null {
  if (isShape<Answered>(value, { kind: exactly("answered"), number, done: flag })) return value;
  if (isShape<Counted>(value, { kind: exactly("counted"), number, counters })) return value;
  const host = text(255);
  const manner = exactly<Manner>("sni", "raw");
  const address = orNull(text(64));
  if (isShape<Judging>(value, { kind: exactly("judging"), number, sandbox, host, address, port, manner })) return value;
  if (isShape<Crediting>(value, { kind: exactly("crediting"), number, sandbox, request: credentialRequest }))
    return value;
  if (isShape<Denied>(value, { kind: exactly("denied"), sandbox, code, request, reason })) return value;
  return readFetchBrokerMessage(value);
}
