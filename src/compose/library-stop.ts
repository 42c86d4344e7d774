// When a call is to stop: its session has ended, or whoever asked does not want it any more. Told once; nothing is left
// behind on a signal that outlives the call.
import type { StopSignal } from "../ports/instruments.ts";

export class Stopping implements StopSignal {
  readonly #listeners = new Set<() => void>();
  #isStopped = false;

  isStopped(): boolean {
    return this.#isStopped;
  }

  /** What a listener does wrong keeps nobody else from being told. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }

  onStop(listener: () => void): () => void {
    if (this.#isStopped) {
      tell(listener);
      return () => undefined;
    }
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }
}

function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // What a listener does wrong is its own.
  }
}

/** For one call; `end` lets go of both. */
export function stoppingOf(
  session: Stopping,
  signal: AbortSignal | undefined,
): { readonly stop: Stopping; end(): void } {
  const stop = new Stopping();
  const ring = (): void => stop.stop();
  const forget = session.onStop(ring);
  if (signal?.aborted === true) ring();
  else signal?.addEventListener("abort", ring, { once: true });
  return {
    stop,
    end: () => {
      forget();
      signal?.removeEventListener("abort", ring);
    },
  };
}

/** What begins meanwhile is waited for, too. */
export async function settledWithin(going: ReadonlySet<Promise<unknown>>, millisecondsMax: number): Promise<void> {
  let isLate = false;
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<void>((give) => {
    timer = setTimeout(() => {
      isLate = true;
      give();
    }, millisecondsMax);
  });
  while (going.size > 0 && !isLate) await Promise.race([Promise.allSettled([...going]), late]);
  if (timer !== null) clearTimeout(timer);
}
