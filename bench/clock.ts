// CPU time of this process, all its threads: the cost of a decision, independent of other load on the machine.

const cellNanoseconds = 0.3e9;
const warmNanoseconds = 0.08e9;
const unitsMin = 20;
const unitsMax = 2 ** 27;

export function cpuNanoseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/**
 * Nanoseconds for one unit of work. Warms up, then does as much as takes about 0.3 s of CPU, but never fewer than `least` units;
 * work so slow that the fewest already take that long is measured at once.
 */
export function secondsOfUnits(work: (units: number) => void, least: number = unitsMin): number {
  let units = least;
  for (;;) {
    const took = cost(work, units);
    if (took >= cellNanoseconds) return took / units;
    if (took >= warmNanoseconds) {
      units = Math.max(least, Math.min(unitsMax, Math.ceil((units * cellNanoseconds) / took)));
      return cost(work, units) / units;
    }
    units = Math.min(units * 2, unitsMax);
  }
}

function cost(work: (units: number) => void, units: number): number {
  const before = cpuNanoseconds();
  work(units);
  return cpuNanoseconds() - before;
}
