// A stop signal that follows another one or a timeout; and the time that a script's glob patterns have already used.
import type { JsonObject } from "../../core/base/json.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";

export interface TimedStop {
  readonly stop: CancelSignal;
  /** Whether the timeout caused it. */
  readonly isOver: boolean;
  /** Cancels the timeout. */
  end(): void;
}

export function timedStop(outer: CancelSignal, milliseconds: number): TimedStop {
  const rings: (() => void)[] = [];
  let [isStopped, isOver] = [outer.stopped, false];
  const ring = (): void => {
    isStopped = true;
    for (const one of rings.splice(0)) one();
  };
  const timer = setTimeout(() => {
    isOver = !isStopped;
    ring();
  }, milliseconds);
  outer.onStop(ring);
  return {
    stop: {
      get stopped() {
        return isStopped || outer.stopped;
      },
      onStop: (one) => {
        if (isStopped) one();
        else rings.push(one);
      },
    },
    get isOver() {
      return isOver;
    },
    end: () => clearTimeout(timer),
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
