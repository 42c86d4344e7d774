// The daemon's time: the clock on the wall, but never backwards and never slower than time really passes. A clock that is
// set back must not bring anything back to life that has ended.

export interface DaemonClock {
  now(): number;
  elapsed(): number;
}

/** `least`: the latest time that is written down already. */
export function daemonClock(least: number): DaemonClock {
  const elapsed = (): number => performance.now();
  let base = Math.max(Date.now(), least);
  let since = elapsed();
  return {
    elapsed,
    now: () => {
      const passed = elapsed();
      base = Math.max(Date.now(), base + (passed - since));
      since = passed;
      return Math.floor(base);
    },
  };
}
