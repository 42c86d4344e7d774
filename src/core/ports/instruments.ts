// The backends of a call's instruments, one small interface each. Each is created for one call and bound to its agent,
// session and tool; no message of a tool can name another.

import type { HeaderLine } from "../authority/axes/http-request.ts";
import type { RequestSignature } from "../authority/axes/request-signature.ts";
import type { Url } from "../authority/axes/url.ts";
import type { Basis, DenialCode } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import type { CodedFailure } from "../base/result.ts";
import type { FilePath, Files } from "./files.ts";
import type { CompletedRun, RunRefusal } from "./process.ts";

export type PortFailure = CodedFailure<string>;
export type PortResult<T> = { readonly ok: true; readonly value: T } | PortFailure;

/** One fetch. It connects only to addresses that were decided on, and follows redirects up to a limit. */
export interface HttpFetch {
  readonly method: string;
  /** As text; it was read and decided on. */
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array | null;
  /** With 0 the redirect itself is the response. */
  readonly redirectsMax: number;
  /** Their values replace handles in headers, query and body of the first request, and go to the hosts they are bound to. */
  readonly secrets: readonly FetchSecret[];
  /** Of the first request. INVARIANT: with a signature no redirect is followed. */
  readonly sign: RequestSignature | null;
  /**
   * Called before each request: once with its name, and once with each address of that name. Null means allowed. INVARIANT: one
   * refused address refuses the whole name.
   */
  decide(request: Request): DenialCode | null;
  readonly bytesMax: number;
  /** Whether a longer response is truncated; otherwise it is a failure. */
  readonly isTruncating: boolean;
  /** Of the whole fetch, redirects included. */
  readonly millisecondsMax: number;
  /** Aborts when the call ends or is cancelled. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** The final one. */
  readonly url: string;
  readonly redirects: number;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly isTruncated: boolean;
}

export interface HttpPort {
  fetch(asked: HttpFetch): Promise<PortResult<HttpResponse>>;
}

export interface ProgramRequest {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  /** The plan is made from the grants that decided, never from the verdict. */
  readonly by: Basis;
  readonly input: Uint8Array | null;
  /** Null: the configured limit alone. */
  readonly millisecondsMax: number | null;
  /** Of output and errors together. */
  readonly outputBytesMax: number;
  /** Whether longer output is truncated; otherwise the program is stopped, and that is a failure. */
  readonly isTruncating: boolean;
  /** Aborts when the call ends or is cancelled. */
  readonly signal: AbortSignal;
}

export interface ProgramEnd {
  readonly ran: CompletedRun;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
  /** Bytes of both that are left out. */
  readonly dropped: number;
}

export interface ProgramsPort {
  run(asked: ProgramRequest): Promise<{ readonly ok: true; readonly value: ProgramEnd } | RunRefusalResult>;
}

interface RunRefusalResult {
  readonly ok: false;
  readonly refused: RunRefusal;
}

/** The value of a secret for one fetch. */
export interface FetchSecret {
  readonly name: string;
  /** Wiped by the caller that opened it. */
  readonly value: Uint8Array;
  /** The hosts it is bound to. */
  readonly hosts: readonly string[];
  /** Never inserted into a request: it only signs. */
  readonly isSignOnly: boolean;
}

export interface SecretsPort {
  has(name: string): Promise<boolean>;
  /**
   * Their values, each for one use in a request to this address. INVARIANT: all of them or none; a failure names the first that
   * is refused, and says the same whatever the reason. Values go to the network, never to a tool.
   */
  open(
    names: readonly string[],
    url: Url,
  ): Promise<{ readonly ok: true; readonly value: readonly FetchSecret[] } | (PortFailure & { readonly name: string })>;
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
  /** Observations of these agents, newest first. */
  query(asked: {
    readonly agents: readonly string[];
    readonly text: string | null;
    readonly tag: string | null;
    /** Milliseconds since 1970. */
    readonly since: number | null;
    readonly before: string | null;
    readonly count: number;
  }): Promise<PortResult<readonly ObservationView[]>>;
}
