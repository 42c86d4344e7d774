// Where a link leads, and over which other links: whoever replaces one of those has changed where it leads, too.
import { lstatSync, readlinkSync } from "node:fs";

export interface FollowedLink {
  /** Without links, as far as the way exists, and the rest as written. Null for a way without an end or a view. */
  readonly target: readonly string[] | null;
  /** The other links on the way, in order. */
  readonly by: readonly (readonly string[])[];
}

const NOWHERE: FollowedLink = { target: null, by: [] };
/** The kernel's own bound. */
const linksMax = 40;

/** `link`: a link in a folder that is reached without one. */
export function followedLink(link: readonly string[]): FollowedLink {
  const by: (readonly string[])[] = [];
  try {
    let place: readonly string[] = link.slice(0, -1);
    let rest: readonly string[] = [link.at(-1) ?? ""];
    for (let links = 0; rest.length > 0; ) {
      const [name = "", ...others] = rest;
      rest = others;
      if (name === "" || name === ".") continue;
      const next = name === ".." ? place.slice(0, -1) : [...place, name];
      const text = name === ".." ? null : textAt(next);
      if (text === null) place = next;
      else {
        if (++links > linksMax) return NOWHERE;
        if (links > 1) by.push(next);
        if (text.startsWith("/")) place = [];
        rest = [...text.split("/"), ...rest];
      }
    }
    return { target: place, by };
  } catch {
    return NOWHERE;
  }
}

/** What a link says; null for what is none, or is not there. */
function textAt(place: readonly string[]): string | null {
  const path = `/${place.join("/")}`;
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;
}
