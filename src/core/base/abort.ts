// Cancellation of calls, programs and requests: always an `AbortSignal`.

/** Calls the listener once, immediately if the signal is aborted already. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** A controller of its own that also follows other signals, until `release` removes its listeners from them. */
export function linkedController(...signals: readonly AbortSignal[]): {
  readonly controller: AbortController;
  release(): void;
} {
  const controller = new AbortController();
  const removers = signals.map((signal) => onAbort(signal, () => controller.abort()));
  return {
    controller,
    release: () => {
      for (const remove of removers) remove();
    },
  };
}
