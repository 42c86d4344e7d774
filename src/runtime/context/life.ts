// How long a context lives: until the call ends or is stopped. After that every instrument answers `revoked`.
import type { StopSignal } from "../../core/ports/instruments.ts";
import { denied, failed, type Used } from "./used.ts";

export class Life {
  #isOver = false;
  readonly #listeners = new Set<() => void>();

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Once; again changes nothing. A listener that fails keeps nobody else from being told. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }

  /** Hands back the way to listen no more. One who comes too late is told at once. */
  listen(listener: () => void): () => void {
    if (this.#isOver) {
      tell(listener);
      return () => undefined;
    }
    // One entry for each time it is asked, so that taking one back does not take another's.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  signal(): StopSignal {
    return { isStopped: () => this.#isOver, onStop: (listener) => this.listen(listener) };
  }

  /**
   * One use of an instrument. INVARIANT: nothing is tried after the end, and what comes back after it is not handed out.
   * Whatever throws on the way, a port or a hostile argument, has given nothing.
   */
  async use<T>(verb: string | null, act: () => Promise<Used<T>>): Promise<Used<T>> {
    if (this.#isOver) return revoked(verb);
    let answer: Used<T>;
    try {
      answer = await act();
    } catch (error) {
      answer = failed(verb, { code: "failed", message: messageOf(error) });
    }
    return this.#isOver ? revoked(verb) : answer;
  }
}

export function revoked<T>(verb: string | null): Used<T> {
  return denied("revoked", verb, "the call this belonged to has ended");
}

function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // What a listener does wrong is its own.
  }
}

/** Asked of nothing but an ordinary error: what is thrown may be hostile too. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.message === "string" ? error.message.slice(0, 500) : "it failed";
  } catch {
    return "it failed";
  }
}
