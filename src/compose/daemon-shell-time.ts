// A stop that rings with another one, or when a time is over.
import type { Stop } from "../sandbox/sandboxes.ts";

export interface TimedStop {
  readonly stop: Stop;
  /** Whether it was the time that rang. */
  readonly isOver: boolean;
  /** The time counts no more. */
  end(): void;
}

export function timedStop(outer: Stop, milliseconds: number): TimedStop {
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
        return isStopped;
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
