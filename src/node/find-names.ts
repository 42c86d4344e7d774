// Which of these names are there: patterns in which `*` is any one name, looked up without following a link.
import { lstatSync, readdirSync } from "node:fs";

export interface NameFound {
  readonly path: readonly string[];
  readonly kind: "file" | "folder" | "link";
}

const entriesMax = 20_000;

/** Null where there is more to look at than we would: then nothing can be said about what is there. */
export function findNames(patterns: readonly (readonly string[])[]): readonly NameFound[] | null {
  const found = new Map<string, NameFound>();
  let looked = 0;
  for (const pattern of patterns) {
    let places: readonly (readonly string[])[] = [[]];
    for (const segment of pattern) {
      places = places.flatMap((place) => (segment === "*" ? childrenOf(place) : [[...place, segment]]));
      // Only folders lead on; a link leads elsewhere.
      places = places.filter((place) => place.length === pattern.length || kindOf(place) === "folder");
      looked += places.length;
      if (looked > entriesMax) return null;
    }
    for (const path of places) {
      const kind = kindOf(path);
      if (kind !== null) found.set(path.join("/"), { path, kind });
    }
  }
  return [...found.values()];
}

function childrenOf(place: readonly string[]): readonly (readonly string[])[] {
  try {
    return readdirSync(`/${place.join("/")}`).map((name) => [...place, name]);
  } catch {
    return [];
  }
}

function kindOf(place: readonly string[]): NameFound["kind"] | null {
  try {
    const found = lstatSync(`/${place.join("/")}`, { throwIfNoEntry: false });
    if (found === undefined) return null;
    return found.isSymbolicLink() ? "link" : found.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}
