// The byte ranges to redact, in order and disjoint, each with the owners of the secrets found in it.

export interface Interval {
  start: number;
  end: number;
  owners: Set<number>;
}

/** Ends arrive in ascending order. Overlapping intervals are merged; adjacent ones stay separate. */
export function addInterval(list: Interval[], start: number, end: number, owners: Iterable<number>): void {
  const top = list.at(-1);
  if (top !== undefined && top.end > start && top.start <= start) {
    top.end = end;
    for (const owner of owners) top.owners.add(owner);
    return;
  }
  const next: Interval = { start, end, owners: new Set(owners) };
  for (let last = list.at(-1); last !== undefined && last.end > next.start; last = list.at(-1)) {
    next.start = Math.min(next.start, last.start);
    next.end = Math.max(next.end, last.end);
    for (const owner of last.owners) next.owners.add(owner);
    list.pop();
  }
  list.push(next);
}

/** Any number of intervals in any order, as one list. */
export function mergeIntervals(intervals: readonly Interval[]): Interval[] {
  const list: Interval[] = [];
  for (const next of intervals.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    const last = list.at(-1);
    if (last === undefined || last.end <= next.start) list.push({ ...next, owners: new Set(next.owners) });
    else {
      last.end = Math.max(last.end, next.end);
      for (const owner of next.owners) last.owners.add(owner);
    }
  }
  return list;
}
