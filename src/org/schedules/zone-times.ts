// Times of a calendar in a time zone: which moments they are where clocks are put forward and back.
import type { Zone } from "../../core/ports/zone.ts";

const HOUR = 3_600_000;

/** A time during which the clocks of a zone are not changed. */
interface OffsetPeriod {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** Clocks are ahead of UTC by at most 14 hours, and behind by 12; one change was a whole day. */
const aroundMilliseconds = 40 * HOUR;
/** No zone changed its clocks twice within this time and back again. */
const sampleMilliseconds = 3 * HOUR;

/**
 * The moments of local times of one day, in the order of the times. `locals`: milliseconds since 1970 as a clock on the wall shows
 * them. A time that is left out when clocks are put forward is the moment of the change. A time that comes twice is the first of
 * the two. `isHourly`: elapsed time counts, so a time that is left out is none, and one that comes twice is both.
 */
export function momentsOf(locals: readonly number[], zone: Zone, isHourly: boolean): readonly number[] {
  const [first, last] = [locals[0], locals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const periods = offsetPeriods(first - aroundMilliseconds, last + aroundMilliseconds, zone);
  return locals.flatMap((local) => {
    const found = periods.flatMap(({ from, to, offset }) => {
      const moment = local - offset;
      return moment >= from && moment < to ? [moment] : [];
    });
    if (isHourly) return found;
    if (found.length > 0) return found.slice(0, 1);
    const after = periods.find(({ from, offset }) => local < from + offset);
    return after === undefined ? [] : [after.from];
  });
}

function offsetPeriods(from: number, to: number, zone: Zone): readonly OffsetPeriod[] {
  const periods: OffsetPeriod[] = [];
  let [start, offset] = [from, zone.offsetAt(from)];
  for (let at = from; at < to; at += sampleMilliseconds) {
    const next = Math.min(at + sampleMilliseconds, to);
    if (zone.offsetAt(next) === offset) continue;
    const change = changeBetween(at, next, offset, zone);
    periods.push({ from: start, to: change, offset });
    [start, offset] = [change, zone.offsetAt(next)];
  }
  return [...periods, { from: start, to, offset }];
}

/** The first moment after `from` that has another offset. */
function changeBetween(from: number, to: number, offset: number, zone: Zone): number {
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}
