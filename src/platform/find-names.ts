// Finds which names exist for patterns in which `*` matches one name. Every link on the path of a pattern is reported
// as well; it is followed only where it leads into `within`, and what is behind it is reported by its real path.
import { lstatSync, readdirSync } from "node:fs";
import { followedLink } from "./followed-link.ts";

export interface ExistingPath {
  /** Free of links, except that the last name may be one. */
  readonly path: readonly string[];
  readonly kind: "file" | "folder" | "link";
  /** Of a link: its target, existing or not; null where it cannot be resolved. */
  readonly target: readonly string[] | null;
  /** Of a link: the other links on the path to the target. */
  readonly by: readonly (readonly string[])[];
}

type PathSegments = readonly string[];

const entriesMax = 20_000;

/**
 * `within`: links are followed into this folder only. Null where there are more entries than the limit: the result
 * would be incomplete.
 */
export function findNames(
  patterns: readonly PathSegments[],
  within: PathSegments | null = null,
): readonly ExistingPath[] | null {
  const names = new Names(within);
  for (const pattern of patterns) {
    let places: readonly PathSegments[] = [[]];
    for (const [at, segment] of pattern.entries()) {
      const isLast = at === pattern.length - 1;
      places = places.flatMap((place) => names.step(place, segment, isLast, pattern));
      if (names.isTooMuch) return null;
    }
  }
  return names.found;
}

class Names {
  readonly #within: PathSegments | null;
  readonly #found = new Map<string, ExistingPath>();
  /** Each name is examined once, however many patterns match it. */
  readonly #known = new Map<string, ExistingPath | null>();
  #looked = 0;

  constructor(within: PathSegments | null) {
    this.#within = within;
  }

  get isTooMuch(): boolean {
    return this.#looked > entriesMax;
  }

  get found(): readonly ExistingPath[] {
    return [...this.#found.values()];
  }

  /** The link-free folders from which a pattern continues. */
  step(place: PathSegments, segment: string, isLast: boolean, pattern: PathSegments): readonly PathSegments[] {
    const names = segment === "*" ? childrenOf(place).filter((name) => isLookedInto(place, name, pattern)) : [segment];
    return this.isTooMuch ? [] : names.flatMap((name) => this.#followed([...place, name], isLast));
  }

  #followed(place: PathSegments, isLast: boolean): readonly PathSegments[] {
    const name = this.#at(place);
    const real = name?.kind === "link" && this.#isInside(name.target) ? this.#at(name.target) : name;
    for (const one of [name, real])
      if (one !== null && (isLast || one.kind === "link")) this.#found.set(one.path.join("/"), one);
    return real?.kind === "folder" ? [real.path] : [];
  }

  #isInside(target: PathSegments | null): target is PathSegments {
    return target !== null && (this.#within?.every((name, at) => target[at] === name) ?? false);
  }

  #at(place: PathSegments): ExistingPath | null {
    const key = place.join("/");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Nothing is examined beyond the limit.
    if (++this.#looked > entriesMax) return null;
    const name = nameAt(place);
    this.#known.set(key, name);
    return name;
  }
}

/** Folders of a repository with thousands of files, none of which is a configuration of another repository. */
const HEAPS: readonly string[] = ["objects", "refs", "logs", "lfs"];

/** Directly below `modules` every name is a repository. */
function isLookedInto(place: PathSegments, name: string, pattern: PathSegments): boolean {
  return !HEAPS.includes(name) || !pattern.includes(".git") || place[place.length - 1] === "modules";
}

function childrenOf(place: PathSegments): readonly string[] {
  try {
    return readdirSync(`/${place.join("/")}`);
  } catch {
    return [];
  }
}

function nameAt(path: PathSegments): ExistingPath | null {
  try {
    const found = lstatSync(`/${path.join("/")}`, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.isSymbolicLink()) return { path, kind: "link", ...followedLink(path) };
    return { path, kind: found.isDirectory() ? "folder" : "file", target: null, by: [] };
  } catch {
    return null;
  }
}
