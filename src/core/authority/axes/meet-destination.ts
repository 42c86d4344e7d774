// The host axis of a meet: names with names, ranges with ranges, and what `*` leaves of a range.
import type { AddressRange } from "../../base/address.ts";
import { METADATA_RANGES, SPECIAL_RANGES } from "../../base/special.ts";
import { intersectSequences, meetPatterns } from "../patterns/intersect.ts";
import type { DestinationScope, Opening } from "./destination.ts";

export function meetDestinations(left: DestinationScope, right: DestinationScope): DestinationScope | null {
  const names = meetPatterns(left.names, right.names, false);
  const openings = meetOpenings(left.openings, right.openings);
  if (names === null || openings === null) return null;
  const ranges = left.ranges.flatMap((one) => right.ranges.flatMap((other) => meetRanges(one, other)));
  if (left.everyPublic) ranges.push(...right.ranges.flatMap(publicParts));
  if (right.everyPublic) ranges.push(...left.ranges.flatMap(publicParts));
  return { kind: "destinations", names, ranges, everyPublic: left.everyPublic && right.everyPublic, openings };
}

function meetOpenings(left: readonly Opening[], right: readonly Opening[]): readonly Opening[] | null {
  const all: Opening[] = [];
  for (const one of left) {
    for (const other of right) {
      const names = intersectSequences(one.name, other.name, false);
      if (names === null) return null;
      for (const name of names) for (const range of meetRanges(one.range, other.range)) all.push({ name, range });
    }
  }
  return all;
}

/** Two written ranges are nested or apart. The wider one must open special addresses too, or only public ones are left. */
function meetRanges(left: AddressRange, right: AddressRange): readonly AddressRange[] {
  if (left.family !== right.family) return [];
  const [inner, outer] = left.prefix >= right.prefix ? [left, right] : [right, left];
  if (inner.low < outer.low || inner.high > outer.high) return [];
  if (inner.prefix === outer.prefix) return [inner];
  const single = inner.low === inner.high;
  if (single && METADATA_RANGES.some((range) => overlaps(range, inner))) return [];
  return outer.prefix >= (outer.family === 4 ? 8 : 32) ? [inner] : publicParts(inner);
}

function overlaps(left: AddressRange, right: AddressRange): boolean {
  return left.family === right.family && left.low <= right.high && right.low <= left.high;
}

/** The parts of a range outside every special one, as ranges. */
export function publicParts(range: AddressRange): readonly AddressRange[] {
  const touching = SPECIAL_RANGES.filter((special) => overlaps(special, range));
  if (touching.length === 0) return [range];
  if (touching.some((special) => special.low <= range.low && special.high >= range.high)) return [];
  const middle = range.low + (range.high - range.low + 1n) / 2n;
  const prefix = range.prefix + 1;
  return [...publicParts({ ...range, high: middle - 1n, prefix }), ...publicParts({ ...range, low: middle, prefix })];
}
