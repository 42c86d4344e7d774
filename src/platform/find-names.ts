// Which of these names are there: patterns in which `*` is any one name. Every link a pattern comes by is found as well;
// it is followed only where it leads into one folder, and what lies behind it is told by its own name.
import { lstatSync, readdirSync } from "node:fs";
import { followedLink } from "./followed-link.ts";

export interface NameFound {
  /** Without links but, where it is one, its last name. */
  readonly path: readonly string[];
  readonly kind: "file" | "folder" | "link";
  /** Of a link: where it leads, there or not; null where that has no answer. */
  readonly target: readonly string[] | null;
  /** Of a link: the other links on the way there. */
  readonly by: readonly (readonly string[])[];
}

type Place = readonly string[];

const entriesMax = 20_000;

/**
 * `within`: where links are followed to. Null where there is more to look at than we would: then nothing can be said
 * about what is there.
 */
export function findNames(patterns: readonly Place[], within: Place | null = null): readonly NameFound[] | null {
  const names = new Names(within);
  for (const pattern of patterns) {
    let places: readonly Place[] = [[]];
    for (const [at, segment] of pattern.entries()) {
      const isLast = at === pattern.length - 1;
      places = places.flatMap((place) => names.step(place, segment, isLast, pattern));
      if (names.isTooMuch) return null;
    }
  }
  return names.found;
}

class Names {
  readonly #within: Place | null;
  readonly #found = new Map<string, NameFound>();
  /** A name is looked at once, however many patterns come by. */
  readonly #known = new Map<string, NameFound | null>();
  #looked = 0;

  constructor(within: Place | null) {
    this.#within = within;
  }

  get isTooMuch(): boolean {
    return this.#looked > entriesMax;
  }

  get found(): readonly NameFound[] {
    return [...this.#found.values()];
  }

  /** The folders, without links, that a pattern goes on from. */
  step(place: Place, segment: string, isLast: boolean, pattern: Place): readonly Place[] {
    const names = segment === "*" ? childrenOf(place).filter((name) => isLookedInto(place, name, pattern)) : [segment];
    return this.isTooMuch ? [] : names.flatMap((name) => this.#followed([...place, name], isLast));
  }

  #followed(place: Place, isLast: boolean): readonly Place[] {
    const name = this.#at(place);
    const real = name?.kind === "link" && this.#isInside(name.target) ? this.#at(name.target) : name;
    for (const one of [name, real])
      if (one !== null && (isLast || one.kind === "link")) this.#found.set(one.path.join("/"), one);
    return real?.kind === "folder" ? [real.path] : [];
  }

  #isInside(target: Place | null): target is Place {
    return target !== null && (this.#within?.every((name, at) => target[at] === name) ?? false);
  }

  #at(place: Place): NameFound | null {
    const key = place.join("/");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Beyond the bound nothing is looked at, whatever a folder holds.
    if (++this.#looked > entriesMax) return null;
    const name = nameAt(place);
    this.#known.set(key, name);
    return name;
  }
}

/** What a repository holds by the thousand, with no settings of another one among it. */
const HEAPS: readonly string[] = ["objects", "refs", "logs", "lfs"];

/** Directly below `modules` every name is a repository's. */
function isLookedInto(place: Place, name: string, pattern: Place): boolean {
  return !HEAPS.includes(name) || !pattern.includes(".git") || place[place.length - 1] === "modules";
}

function childrenOf(place: Place): readonly string[] {
  try {
    return readdirSync(`/${place.join("/")}`);
  } catch {
    return [];
  }
}

function nameAt(path: Place): NameFound | null {
  try {
    const found = lstatSync(`/${path.join("/")}`, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.isSymbolicLink()) return { path, kind: "link", ...followedLink(path) };
    return { path, kind: found.isDirectory() ? "folder" : "file", target: null, by: [] };
  } catch {
    return null;
  }
}
