// Resolves a link and lists the links on the path to its target: replacing one of them changes the target, too.
import { lstatSync, readlinkSync } from "node:fs";

export interface FollowedLink {
  /**
   * Free of links as far as the path exists, the rest as written. Null for a link cycle or a path that cannot be read.
   */
  readonly target: readonly string[] | null;
  /** The other links on the path, in order. */
  readonly by: readonly (readonly string[])[];
}

const NOWHERE: FollowedLink = { target: null, by: [] };
/** The kernel's own limit. */
const linksMax = 40;

/** `link`: a link in a folder whose path has no links. */
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

/** The text of a link; null where the name is no link or does not exist. */
function textAt(place: readonly string[]): string | null {
  const path = `/${place.join("/")}`;
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;
}
