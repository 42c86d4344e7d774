// Names that are links. No mount can hold a link, so what is said of a name is said of the place it leads to as well, and
// the links on the way are watched: one that was replaced is put back by the owner.
import { isSame, isWithin } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { FoundName } from "./plan-facts.ts";
import type { WantedPin } from "./wanted-pin.ts";

/** A path of links in links is at its end after this many. */
const linksMax = 8;

/** The same pins, and for each that is reached through links those of the place itself and of the other links. */
export function throughLinks(pins: readonly WantedPin[], found: readonly FoundName[]): readonly WantedPin[] {
  const links = found.filter(({ kind }) => kind === "link");
  if (links.length === 0) return pins;
  return pins.flatMap((pin) => [pin, ...behind(pin, links, found)]);
}

/** The first link on the way to this name, itself among it. */
export function linkAt(path: PlanPath, found: readonly FoundName[]): FoundName | null {
  return found.find((name) => name.kind === "link" && isWithin(path, name.path)) ?? null;
}

function behind(pin: WantedPin, links: readonly FoundName[], found: readonly FoundName[]): readonly WantedPin[] {
  const pins: WantedPin[] = [];
  let path = pin.path;
  for (let count = 0; count < linksMax; count++) {
    const link = linkAt(path, links);
    if (link === null) break;
    pins.push(...link.by.map(watched));
    if (link.target === null) break;
    // What a link leads to and is not there is not made: nobody asked for a folder of that name.
    const leads = found.some((name) => name.kind !== "link" && isSame(name.path, link.target ?? []));
    const isLast = isSame(path, link.path);
    path = [...link.target, ...path.slice(link.path.length)];
    pins.push({ ...pin, path, absent: isLast && !leads ? "leave" : pin.absent, base: path.length });
  }
  return pins;
}

function watched(path: PlanPath): WantedPin {
  return { path, action: "readonly", absent: "leave", base: path.length };
}
