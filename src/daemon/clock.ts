// The daemon's time: wall-clock time, but never backwards and never slower than elapsed time. Setting the clock back must not
// revive anything that has expired.

export interface DaemonClock {
  now(): number;
  elapsed(): number;
}

/** `least`: the latest recorded time. */
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
