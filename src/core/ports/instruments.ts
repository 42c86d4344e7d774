// The backends of a call's instruments, one small interface each. Each is created for one call and bound to its agent,
// session and tool; no message of a tool can name another.

import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import type { Address } from "../base/address.ts";
import type { FilePath, Files } from "./files.ts";
import type { CompletedRun, RunRefusal } from "./process.ts";
import type { Resolver } from "./resolver.ts";

export type PortFailure = { readonly ok: false; readonly code: string; readonly message: string };
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

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

export interface FilesPort extends Files {
  /** Several operations on one path, without changes of it by other calls in between. */
  exclusively<T>(path: FilePath, act: (files: Files) => Promise<T>): Promise<T>;
  /** Lets other calls run; awaited between the steps of a long list. */
  pause(): Promise<void>;
}

export interface KeyValue {
  readonly value: string;
  readonly version: number;
  /** When it was written, in milliseconds since 1970. */
  readonly at: number;
  readonly expires: number | null;
  /** Written while its session had read nothing untrusted. */
  readonly clean: boolean;
}

export interface KeyEntry extends KeyValue {
  readonly key: readonly string[];
}

export interface KeyWrite {
  /** Expected version; 0 requires that the key does not exist; null accepts any. */
  readonly version: number | null;
  /** Time to live; null never expires. */
  readonly secondsMax: number | null;
}

/** Values by key. The store interprets the first segment: `session`, `shared`, for storage also `tool`, or a name. */
export interface KeysPort {
  get(key: readonly string[]): Promise<PortResult<KeyValue | null>>;
  set(key: readonly string[], value: string, write: KeyWrite): Promise<PortResult<{ readonly version: number }>>;
  /** `version`: as for a write. */
  delete(key: readonly string[], version: number | null): Promise<PortResult<boolean>>;
  /** Entries whose key begins with this text, sorted, after the given key; of the store that the text names. */
  list(asked: {
    readonly prefix: string;
    readonly text: string | null;
    readonly after: string | null;
    readonly count: number;
  }): Promise<PortResult<readonly KeyEntry[]>>;
  /** The session has been given this value, which makes it as untrusted as the value. */
  shown(value: KeyValue): void;
}

export type StoragePort = KeysPort;
export type MemoryPort = KeysPort;

export interface ObservationView {
  readonly id: string;
  readonly agent: string;
  readonly at: number;
  readonly text: string;
  readonly tags: readonly string[];
  /** Written while its session had read nothing untrusted. */
  readonly clean: boolean;
  readonly session: string | null;
}

export interface ObservationsPort {
  append(text: string, tags: readonly string[]): Promise<PortResult<{ readonly id: string }>>;
  /** This agent's observations, newest first. */
  query(asked: {
    readonly agent: string;
    readonly text: string | null;
    readonly tag: string | null;
    /** Milliseconds since 1970. */
    readonly since: number | null;
    readonly before: string | null;
    readonly count: number;
  }): Promise<PortResult<readonly ObservationView[]>>;
}
