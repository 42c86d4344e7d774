// Talking to the state owner: one question, events on the way, one answer. The messages themselves are in `daemon-calls`
// and `daemon-control`.
import type { Json } from "../../base/json.ts";

/** Every refusal has a code, a sentence, and where there is one a line to act on. */
export interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly fix: string | null;
}

export type Answer<T> = { readonly ok: true; readonly value: T } | Refusal;

/** What may go along with a question that lasts. */
export interface Along {
  /** What is told while it lasts. */
  onEvent?(event: Json): void;
  /** Bytes that come back: 1 output, 2 errors. A promise is back-pressure: not much more is sent until it resolves. */
  onBytes?(channel: number, bytes: Uint8Array): void | Promise<void>;
  /** Bytes that go along; their end is told, too. */
  readonly input?: AsyncIterable<Uint8Array> | null;
  /** Rings when the question is not worth an answer any more. */
  onStop?(ring: () => void): void;
}

export interface Asking<M> {
  /** Never rejects: a daemon that is not there, or goes away, is a refusal with code `not_available`. */
  ask<K extends keyof M & string>(
    name: K,
    value: M[K] extends { readonly asks: infer A } ? A : never,
    along?: Along,
  ): Promise<Answer<M[K] extends { readonly answers: infer A } ? A : never>>;
  /**
   * What needs no answer: nobody hears whether it came to anything. It is heard before whatever is asked after it. False
   * where it could not be sent.
   */
  tell<K extends keyof M & string>(name: K, value: M[K] extends { readonly asks: infer A } ? A : never): boolean;
  close(): void;
}
