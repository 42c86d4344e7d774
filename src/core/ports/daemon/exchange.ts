// The client side of the daemon protocol: one request, events while it runs, one response. The messages themselves are in
// `daemon-calls` and `daemon-control`.
import type { Json } from "../../base/json.ts";

/** Code of a refusal by a client itself: no daemon serves it, or the daemon exited. */
export const NO_DAEMON = "no_daemon";

/** Every refusal has a code, a message, and where possible a fix to type. */
export interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly fix: string | null;
}

export function refusal(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}

export type Answer<T> = { readonly ok: true; readonly value: T } | Refusal;

/** Options of a long-running request. */
export interface RequestOptions {
  /** Receives events while the request runs. */
  onEvent?(event: Json): void;
  /** Receives bytes: channel 1 is output, 2 is errors. Returning a promise applies backpressure until it resolves. */
  onBytes?(channel: number, bytes: Uint8Array): void | Promise<void>;
  /** Bytes sent with the request; their end is sent, too. */
  readonly input?: AsyncIterable<Uint8Array> | null;
  /** Cancels the request. */
  readonly signal?: AbortSignal;
}

export interface MessageClient<M> {
  /** Of the daemon's program, as it said; empty where it did not. */
  readonly daemonVersion?: string;
  /** Never rejects: an unreachable or lost daemon is a refusal with code `not_available`. */
  ask<K extends keyof M & string>(
    name: K,
    value: M[K] extends { readonly asks: infer A } ? A : never,
    along?: RequestOptions,
  ): Promise<Answer<M[K] extends { readonly answers: infer A } ? A : never>>;
  /**
   * Sends a notification, which has no response. The daemon handles it before every later request. False if it could not be
   * sent.
   */
  tell<K extends keyof M & string>(name: K, value: M[K] extends { readonly asks: infer A } ? A : never): boolean;
  close(): void;
}
