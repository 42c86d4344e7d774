// Witnesses of the host axis: unknown names, names with an opened address, and one literal address of every part of
// the address space that requests can tell apart.
import { type Address, type AddressRange, addressOf } from "../../base/address.ts";
import { witnessesMax } from "../../base/limits.ts";
import { isSpecial, rangeOpens, SPECIAL_RANGES } from "../../base/special.ts";
import type { Destination, DestinationScope } from "../axes/destination.ts";
import { intersectSequences } from "../patterns/intersect.ts";
import { segmentsOf } from "../patterns/sequence.ts";
import type { AxisFacts } from "./facts.ts";
import { sequenceWitnesses, TOO_MANY } from "./witness.ts";

export function destinationWitnesses(
  scope: DestinationScope,
  facts: AxisFacts,
): readonly Destination[] | typeof TOO_MANY {
  if (scope.names.length * (scope.openings.length + 1) > witnessesMax) return TOO_MANY;
  const all: Destination[] = [];
  for (const name of scope.names) {
    const found = sequenceWitnesses(name, facts.stars, segmentsOf);
    if (found === TOO_MANY) return TOO_MANY;
    for (const witness of found) if (witness.segments.length > 0) all.push({ name: witness, address: null });
    for (const opening of scope.openings) {
      const both = intersectSequences(name, opening.name, false);
      if (both === null) return TOO_MANY;
      const addresses = cells(opening.range, facts.ranges).filter(
        (address) => isSpecial(address) && rangeOpens(opening.range, address),
      );
      for (const pattern of both) {
        const names = sequenceWitnesses(pattern, facts.stars, segmentsOf);
        if (names === TOO_MANY) return TOO_MANY;
        for (const one of names) {
          if (one.segments.length > 0) for (const address of addresses) all.push({ name: one, address });
        }
      }
    }
  }
  for (const range of scope.ranges) {
    for (const address of cells(range, facts.ranges)) if (rangeOpens(range, address)) all.push({ name: null, address });
  }
  if (scope.everyPublic) {
    for (const space of SPACES)
      for (const address of cells(space, facts.ranges)) if (!isSpecial(address)) all.push({ name: null, address });
  }
  return all;
}

const SPACES: readonly AddressRange[] = [
  { family: 4, low: 0n, high: (1n << 32n) - 1n, prefix: 0 },
  { family: 6, low: 0n, high: (1n << 128n) - 1n, prefix: 0 },
];

const BEHIND_MAPPED = 1n << 48n;

/** One address of every part of the range that the written ranges, and the special ones, can tell apart. */
function cells(range: AddressRange, others: readonly AddressRange[]): Address[] {
  const starts = new Set<bigint>([range.low]);
  // The IPv4-mapped block is spelled as IPv4; what lies behind it is a part of its own.
  if (range.family === 6 && range.low < BEHIND_MAPPED && range.high >= BEHIND_MAPPED) starts.add(BEHIND_MAPPED);
  for (const list of [others, SPECIAL_RANGES]) {
    for (const other of list) {
      if (other.family !== range.family) continue;
      for (const start of [other.low, other.high + 1n]) if (start > range.low && start <= range.high) starts.add(start);
    }
  }
  return [...starts].map((number) => addressOf(range.family, number));
}
