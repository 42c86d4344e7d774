// The daemon's time: wall-clock time, but never backwards and never slower than elapsed time. Setting the clock back must not
// revive anything that has expired. And time zones, from the data of the runtime.
import type { Zone, Zones } from "../core/ports/zone.ts";

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

const zonesCachedMax = 100;

export function machineZones(): Zones {
  const known = new Map<string, Zone>();
  return {
    local: () => new Intl.DateTimeFormat("en").resolvedOptions().timeZone,
    named: (name) => {
      const zone = known.get(name) ?? zoneOf(name);
      if (zone === null) return null;
      if (known.size >= zonesCachedMax) known.clear();
      known.set(name, zone);
      return zone;
    },
  };
}

/** Null for a name that is none. */
function zoneOf(name: string): Zone | null {
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" });
    return { name, offsetAt: (instant) => offsetIn(format.formatToParts(instant)) };
  } catch {
    return null;
  }
}

/** `GMT`, `GMT+01:00`, `GMT-04:56:02`. */
function offsetIn(parts: readonly Intl.DateTimeFormatPart[]): number {
  const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /^GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text) ?? [];
  const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}
