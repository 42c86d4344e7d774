// At most so many calls in any window of so many seconds. Exact for rates of up to a thousand calls; above that calls are
// counted in stretches, each as if all of it were as young as its last call: never more than allowed, sometimes a little less.
import type { Rate } from "../authority/grant.ts";

export interface Stretch {
  readonly number: number;
  readonly calls: number;
  /** When the last of them was, milliseconds since 1970. */
  readonly at: number;
}

const exactCallsMax = 1_000;
/** Enough of them for every rate: all together hold more calls than any window may. */
export const stretchesMax = 1_024;

/** How many calls the window that ends now may hold already. Infinite where we do not know any more. */
export function callsWithin(stretches: readonly Stretch[], seconds: number, now: number): number {
  const begin = now - seconds * 1000;
  if (!(seconds > 0) || !Number.isFinite(begin)) return Number.POSITIVE_INFINITY;
  let calls = 0;
  let isWholeKnown = (stretches[0]?.number ?? 1) === 1;
  // All of them: clocks jump, and then they are not in order.
  for (const stretch of stretches) {
    if (stretch.at > begin) calls += stretch.calls;
    else isWholeKnown = true;
  }
  // What lay before the oldest we kept may lie in the window too.
  return isWholeKnown ? calls : Number.POSITIVE_INFINITY;
}

/** One more call: the newest stretch grown by one, or a new one. */
export function nextStretch(stretches: readonly Stretch[], rate: Rate, at: number): Stretch {
  const last = stretches.at(-1);
  const callsMax = Math.ceil(rate.calls / exactCallsMax);
  if (last === undefined) return { number: 1, calls: 1, at };
  if (last.calls < callsMax) return { number: last.number, calls: last.calls + 1, at: Math.max(last.at, at) };
  return { number: last.number + 1, calls: 1, at };
}
