// Cancellation of a call: its session has ended, or the caller cancelled it. Fires once, and leaves no listener behind
// on a signal that outlives the call.

import type { StopSignal } from "../core/ports/instruments.ts";
import { Life } from "../runtime/context/life.ts";

/** The lifetime of a context, as the code that ends it sees it. */
export class StopSource implements StopSignal {
  readonly #life = new Life();

  isStopped(): boolean {
    return this.#life.isOver;
  }

  stop(): void {
    this.#life.end();
  }

  onStop(listener: () => void): () => void {
    return this.#life.listen(listener);
  }
}

/** For one call; `end` removes the listeners from both sources. */
export function callStop(
  session: StopSource,
  signal: AbortSignal | undefined,
): { readonly stop: StopSource; end(): void } {
  const stop = new StopSource();
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

/** Also waits for work that starts meanwhile. */
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
