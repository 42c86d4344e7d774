// A stop that rings with another one, or when a time is over; and what of a script's time its patterns have taken already.
import type { JsonObject } from "../../core/base/json.ts";
import type { CancelSignal } from "../../sandbox/plan/sandboxes.ts";
import type { Session } from "../session.ts";

export interface TimedStop {
  readonly stop: CancelSignal;
  /** Whether it was the time that rang. */
  readonly isOver: boolean;
  /** The time counts no more. */
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

/** Between the look for its names and the start of a script a person may be asked: that time is nobody's. */
export class SpentTime {
  readonly #sessions = new WeakMap<Session, Map<string, number>>();

  keep(session: Session, input: JsonObject, milliseconds: number): void {
    const kept = this.#sessions.get(session) ?? new Map<string, number>();
    this.#sessions.set(session, kept);
    const key = JSON.stringify(input);
    // Of two calls with the same words the longer look counts for both.
    const longest = Math.max(milliseconds, kept.get(key) ?? 0);
    kept.delete(key);
    kept.set(key, longest);
    const [oldest] = kept.keys();
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  }

  /** Once; nought where nothing was looked up. */
  take(session: Session, input: JsonObject): number {
    const kept = this.#sessions.get(session);
    const key = JSON.stringify(input);
    const milliseconds = kept?.get(key) ?? 0;
    kept?.delete(key);
    return milliseconds;
  }
}
