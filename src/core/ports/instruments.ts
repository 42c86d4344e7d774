// The backends of a call's instruments, one small interface each. Each is created for one call and bound to its agent,
// session and tool; no message of a tool can name another.

import type { Destination } from "../authority/axes/destination.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import type { Address } from "../base/address.ts";
import type { CompletedRun, RunRefusal } from "./process.ts";
import type { Resolver } from "./resolver.ts";

export type PortFailure = { readonly ok: false; readonly code: string; readonly message: string };
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

export interface Network {
  connect(to: Destination, port: number): Promise<PortResult<AsyncIterable<Uint8Array>>>;
}

export interface Secrets {
  /** Whether the secret exists; its value is never returned here. */
  has(name: readonly string[]): Promise<boolean>;
}

export interface Memory {
  get(key: readonly string[]): Promise<PortResult<string | null>>;
  set(key: readonly string[], value: string): Promise<PortResult<null>>;
}

/** Cancellation of a call; notifies once, when the call ends or is stopped. */
export interface StopSignal {
  isStopped(): boolean;
  /** Returns a function that removes the listener. If already stopped, the listener is called immediately. */
  onStop(listener: () => void): () => void;
}

/** One HTTP request to one server. It connects only to an address that was decided on and follows no redirect. */
export interface HttpExchange {
  readonly scheme: "http" | "https";
  /** Canonical; the certificate must match it. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly target: string;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** Null if the exchange resolves the name itself: then it asks about every resolved address first. */
  readonly addresses: readonly Address[] | null;
  /** Null means allowed. INVARIANT: one refused address refuses the whole name. */
  screen(address: Address): DenialCode | null;
  /** A longer response is a failure; it is never truncated. */
  readonly bytesMax: number;
  readonly millisecondsMax: number;
  readonly stop: StopSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

export interface HttpPort {
  /** Null if an exchange resolves names itself. */
  readonly resolve: Resolver | null;
  exchange(asked: HttpExchange): Promise<PortResult<HttpResponse>>;
}

export interface ProgramRequest {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  /** The plan is made from the grants that decided, never from the verdict. */
  readonly by: Basis;
  readonly input: Uint8Array | null;
  readonly millisecondsMax: number;
  readonly outputBytesMax: number;
  readonly stop: StopSignal;
}

export interface ProgramEnd {
  readonly ran: CompletedRun;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
}

export interface ProgramsPort {
  run(asked: ProgramRequest): Promise<{ readonly ok: true; readonly value: ProgramEnd } | RunRefusalResult>;
}

interface RunRefusalResult {
  readonly ok: false;
  readonly refused: RunRefusal;
}

export interface SecretsPort {
  has(name: string): Promise<boolean>;
  /** Returns the value for one use by this tool at this host. INVARIANT: it goes into a request to that host, never to a tool. */
  open(
    name: string,
    use: {
      readonly tool: string;
      readonly host: string;
      /** Scheme, host and port. */
      readonly origin: string;
    },
  ): Promise<PortResult<string>>;
}

export interface KeyValue {
  readonly value: string;
  readonly version: number;
}

export interface KeyWrite {
  /** Expected version; 0 requires that the key does not exist; null accepts any. */
  readonly version: number | null;
  /** Time to live; null never expires. */
  readonly secondsMax: number | null;
}

/** Values by key. The store interprets the first segment: `tool`, `session`, `agent`, or a name. */
export interface KeysPort {
  get(key: readonly string[]): Promise<PortResult<KeyValue | null>>;
  set(key: readonly string[], value: string, write: KeyWrite): Promise<PortResult<{ readonly version: number }>>;
  delete(key: readonly string[]): Promise<PortResult<boolean>>;
  /** Keys below a prefix, sorted, after the given one. */
  list(
    prefix: readonly string[],
    asked: { readonly after: readonly string[] | null; readonly count: number },
  ): Promise<PortResult<readonly (readonly string[])[]>>;
}

export type StoragePort = KeysPort;
export type MemoryPort = KeysPort;

export interface ObservationView {
  readonly id: string;
  readonly agent: string;
  readonly at: number;
  readonly text: string;
  readonly tags: readonly string[];
}

export interface ObservationsPort {
  append(text: string, tags: readonly string[]): Promise<PortResult<{ readonly id: string }>>;
  /** This agent's observations, newest first. */
  query(asked: {
    readonly agent: string;
    readonly text: string | null;
    readonly tag: string | null;
    readonly before: string | null;
    readonly count: number;
  }): Promise<PortResult<readonly ObservationView[]>>;
}
