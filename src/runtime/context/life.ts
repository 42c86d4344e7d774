// Lifetime of a context: until the call ends or is stopped. After that every instrument answers `revoked`.
import { foreignErrorMessage } from "../../core/base/error-message.ts";
import { type UseResult, useDenial, useFailure } from "./use-result.ts";

/** Runs one use: the owner of the context queues it, limits it, and logs its denial. */
export type RunUse = <T>(act: () => Promise<UseResult<T>>) => Promise<UseResult<T>>;

export class ContextLifetime {
  #isOver = false;
  readonly #listeners = new Set<() => void>();
  readonly #run: RunUse;
  #controller: AbortController | null = null;

  constructor(run: RunUse = (act) => act()) {
    this.#run = run;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Idempotent. A listener that throws does not affect other listeners. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }

  /** Returns a function that removes the listener. After the end, the listener is called immediately. */
  listen(listener: () => void): () => void {
    if (this.#isOver) {
      tell(listener);
      return () => undefined;
    }
    // One entry per registration, so that removing one does not remove another of the same function.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Aborts at the end; one for all uses. */
  signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      this.listen(() => controller.abort());
      this.#controller = controller;
    }
    return this.#controller.signal;
  }

  /**
   * One use of an instrument. INVARIANT: nothing is tried after the end, and later results are not returned. Any exception, from
   * a port or a hostile argument, yields a refusal.
   */
  async use<T>(verb: string | null, act: () => Promise<UseResult<T>>): Promise<UseResult<T>> {
    if (this.#isOver) return revokedResult(verb);
    return this.#run(async () => {
      // The use may have waited for others.
      if (this.#isOver) return revokedResult(verb);
      let answer: UseResult<T>;
      try {
        answer = await act();
      } catch (error) {
        answer = useFailure(verb, { code: "failed", message: foreignErrorMessage(error) });
      }
      return this.#isOver ? revokedResult(verb) : answer;
    });
  }
}

export function revokedResult<T>(verb: string | null): UseResult<T> {
  return useDenial("revoked", verb, "the call of this context has ended");
}

function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // A listener's exception is ignored.
  }
}

type Member = string | number | boolean | null | object | ((...all: never[]) => unknown);

/** INVARIANT: every member is a value, a function or sealed already; a function loses access to its constructor. */
export function sealMembers<T extends Readonly<Record<string, Member>>>(members: T): T {
  const object = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    object[key] = typeof member === "function" ? closedFunction(member as (...all: never[]) => unknown) : member;
  }
  return Object.freeze(object) as T;
}

/** An arrow function has no `prototype` of its own; its inherited one leads to `Function`. */
export function closedFunction<F extends (...all: never[]) => unknown>(act: F): F {
  Object.setPrototypeOf(act, null);
  return Object.freeze(act);
}

/** Makes each member. */
export type Makers<T> = { readonly [K in keyof T]: () => T[K] };

/** All members at once, sealed. */
export function closedOf<T>(make: Makers<T>): T {
  const entries = Object.entries(make as Readonly<Record<string, () => object>>);
  return sealMembers(Object.fromEntries(entries.map(([name, one]) => [name, one()]))) as T;
}

/** Each member is made once, when it is first read: a call uses one or two of many. */
export function lazy<T>(make: Makers<T>): T {
  const object = Object.create(null) as object;
  for (const [name, one] of Object.entries(make as Readonly<Record<string, () => unknown>>)) {
    let made: { readonly value: unknown } | null = null;
    Object.defineProperty(object, name, {
      enumerable: true,
      get: () => {
        made ??= { value: one() };
        return made.value;
      },
    });
  }
  return Object.freeze(object) as T;
}
