// The timeout of a script, which follows the signal of its call; and the time that its glob patterns have already used.
import { linkedController } from "../../core/base/abort.ts";
import type { JsonObject } from "../../core/base/json.ts";

export interface ScriptTimeout {
  /** Aborts with the call, or after the time. */
  readonly signal: AbortSignal;
  /** Whether the timeout aborted it. */
  readonly isOver: boolean;
  /** Ends the timer. */
  end(): void;
}

export function scriptTimeout(call: AbortSignal, milliseconds: number): ScriptTimeout {
  const { controller, release } = linkedController(call);
  const { signal } = controller;
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = !signal.aborted;
    controller.abort();
  }, milliseconds);
  return {
    signal,
    get isOver() {
      return isOver;
    },
    end: () => {
      clearTimeout(timer);
      release();
    },
  };
}

const keptMax = 256;

/** A person may be asked between the glob expansion and the start of a script: that time is not counted. */
export class SpentTime {
  /** By session. */
  readonly #sessions = new WeakMap<object, Map<string, number>>();

  keep(session: object, input: JsonObject, milliseconds: number): void {
    const kept = this.#sessions.get(session) ?? new Map<string, number>();
    this.#sessions.set(session, kept);
    const key = JSON.stringify(input);
    // Of two calls with the same arguments the longer expansion counts for both.
    const longest = Math.max(milliseconds, kept.get(key) ?? 0);
    kept.delete(key);
    kept.set(key, longest);
    const [oldest] = kept.keys();
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  }

  /** Once; zero if nothing was expanded. */
  take(session: object, input: JsonObject): number {
    const kept = this.#sessions.get(session);
    const key = JSON.stringify(input);
    const milliseconds = kept?.get(key) ?? 0;
    kept?.delete(key);
    return milliseconds;
  }
}
