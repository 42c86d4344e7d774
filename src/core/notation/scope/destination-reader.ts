// The hosts a scope names, and the names it opens for private addresses.

import {
  type DestinationScope,
  type HostEntry,
  type Opening,
  parseHostEntry,
  parseHostPattern,
  type ToAscii,
} from "../../authority/axes/destination.ts";
import { DEEP, literal } from "../../authority/patterns/segment.ts";
import { type Sequence, sameSequence } from "../../authority/patterns/sequence.ts";
import { type AddressRange, parseRange, rangeText } from "../../base/address.ts";
import { patternCharactersMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import type { Entry } from "../tree.ts";
import { readEach, single } from "./scope-values.ts";

const LOCALHOST: Sequence = [literal("localhost")];
const LOOPBACK: readonly AddressRange[] = ["127.0.0.1", "::1"]
  .map(parseRange)
  .flatMap((range) => (range.ok ? [range.value] : []));

/**
 * `localhost`, written as such, is this machine: no other name leads there, and no star means it. Said as openings, so that the
 * grant prints what it opens.
 */
function localOpenings({ names }: DestinationScope, openings: readonly Opening[]): readonly Opening[] {
  if (!names.some((name) => sameSequence(name, LOCALHOST))) return [];
  const isOpen = (range: AddressRange): boolean =>
    openings.some((one) => sameSequence(one.name, LOCALHOST) && rangeText(one.range) === rangeText(range));
  return LOOPBACK.filter((range) => !isOpen(range)).map((range) => ({ name: LOCALHOST, range }));
}

/** Without `hosts` there is no destination, whatever `private` opens. `isLocal`: `localhost` opens this machine's loopback. */
export function readDestinations(
  hosts: Entry | null,
  opened: Entry | null,
  toAscii: ToAscii,
  diagnostics: Diagnostics,
  isLocal: boolean,
): DestinationScope | null {
  const entries = hosts === null ? [] : readEach(hosts, diagnostics, (text) => single(parseHostEntry(text, toAscii)));
  const openings = opened === null ? [] : readEach(opened, diagnostics, (text) => single(parseOpening(text, toAscii)));
  if (entries === null || openings === null) return null;
  const destinations = destinationsOf(entries);
  return { ...destinations, openings: [...openings, ...(isLocal ? localOpenings(destinations, openings) : [])] };
}

function destinationsOf(entries: readonly HostEntry[]): DestinationScope {
  const names: Sequence[] = [];
  const ranges: AddressRange[] = [];
  let everyPublic = false;
  for (const entry of entries) {
    switch (entry.kind) {
      case "name":
        names.push(entry.name);
        break;
      case "range":
        ranges.push(entry.range);
        break;
      case "every":
        if (!everyPublic) names.unshift([DEEP]);
        everyPublic = true;
        break;
      default:
        entry satisfies never;
    }
  }
  return { kind: "destinations", names, ranges, everyPublic, openings: [] };
}

/** `db.internal=10.1.0.0/16` */
function parseOpening(text: string, toAscii: ToAscii): Result<Opening> {
  if (text.length > patternCharactersMax) return refuse("too_long", "the entry is too long");
  const equals = text.indexOf("=");
  if (equals < 0) {
    return refuse("bad_value", `${JSON.stringify(text)} is not a name with its addresses`, "db.internal=10.1.0.0/16");
  }
  const name = parseHostPattern(text.slice(0, equals), toAscii);
  if (!name.ok) return name;
  const range = parseRange(text.slice(equals + 1));
  return range.ok ? done({ name: name.value, range: range.value }) : range;
}
