// What the world outside offers to a call, each behind one small type. Whoever makes one for a call binds it to the
// agent, the session and the tool; no message of a tool can name another.

import type { Destination } from "../authority/axes/destination.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import type { Address } from "../base/address.ts";
import type { Ran, RunRefused } from "./process.ts";
import type { Resolver } from "./resolver.ts";

export type PortFailure = { readonly ok: false; readonly code: string; readonly message: string };
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

export interface Network {
  connect(to: Destination, port: number): Promise<PortResult<AsyncIterable<Uint8Array>>>;
}

export interface Secrets {
  /** Whether the secret is there; its value never passes through here. */
  has(name: readonly string[]): Promise<boolean>;
}

export interface Memory {
  get(key: readonly string[]): Promise<PortResult<string | null>>;
  set(key: readonly string[], value: string): Promise<PortResult<null>>;
}

/** Told once, when the call ends or somebody stops it. */
export interface StopSignal {
  isStopped(): boolean;
  /** Hands back the way to listen no more. One who comes too late is told at once. */
  onStop(listener: () => void): () => void;
}

/** One request to one server. It goes to an address that was decided on, and to no other; nothing is followed. */
export interface Exchange {
  readonly scheme: "http" | "https";
  /** Canonical; what the certificate must be for. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly target: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** Null where whoever makes the exchange looks the name up: then every address it leads to is asked about first. */
  readonly addresses: readonly Address[] | null;
  /** Null for yes. INVARIANT: one address of a name that is refused refuses the name. */
  screen(address: Address): DenialCode | null;
  /** An answer that is longer is a failure, never a part of it. */
  readonly bytesMax: number;
  readonly millisecondsMax: number;
  readonly stop: StopSignal;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

export interface Fetching {
  /** Null where an exchange looks names up itself. */
  readonly resolve: Resolver | null;
  exchange(asked: Exchange): Promise<PortResult<Exchanged>>;
}

export interface ProgramAsked {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  /** The plan is made from the grants that decided, never from the verdict. */
  readonly by: Basis;
  readonly input: Uint8Array | null;
  readonly millisecondsMax: number;
  readonly outputBytesMax: number;
  readonly stop: StopSignal;
}

export interface ProgramEnded {
  readonly ran: Ran;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
}

export interface ProgramsPort {
  run(asked: ProgramAsked): Promise<{ readonly ok: true; readonly value: ProgramEnded } | RunRefusedResult>;
}

interface RunRefusedResult {
  readonly ok: false;
  readonly refused: RunRefused;
}

export interface SecretsPort {
  has(name: string): Promise<boolean>;
  /** The value, for one use by this tool at this host. INVARIANT: it goes into a request to that host, never to a tool. */
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
  /** Only if this is the version there; 0 is "only if there is none"; null is whatever there is. */
  readonly version: number | null;
  /** From now on; null keeps it. */
  readonly secondsMax: number | null;
}

/** Values by key. What the first segment means is the owner's to know: `tool`, `session`, `agent`, or a name. */
export interface KeysPort {
  get(key: readonly string[]): Promise<PortResult<KeyValue | null>>;
  set(key: readonly string[], value: string, write: KeyWrite): Promise<PortResult<{ readonly version: number }>>;
  delete(key: readonly string[]): Promise<PortResult<boolean>>;
  /** Keys below a prefix, in order, after the one given. */
  list(
    prefix: readonly string[],
    asked: { readonly after: readonly string[] | null; readonly count: number },
  ): Promise<PortResult<readonly (readonly string[])[]>>;
}

export type StoragePort = KeysPort;
export type MemoryPort = KeysPort;

export interface ObservationSeen {
  readonly id: string;
  readonly agent: string;
  readonly at: number;
  readonly text: string;
  readonly tags: readonly string[];
}

export interface ObservationsPort {
  append(text: string, tags: readonly string[]): Promise<PortResult<{ readonly id: string }>>;
  /** Newest first, of this agent. */
  query(asked: {
    readonly agent: string;
    readonly text: string | null;
    readonly tag: string | null;
    readonly before: string | null;
    readonly count: number;
  }): Promise<PortResult<readonly ObservationSeen[]>>;
}
