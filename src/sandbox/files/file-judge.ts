// Deciding on files by every name they go by. What lies in a tree has the name authority uses and the name the kernel
// uses; where a protected path is at, below or above either of them, the guard holds under both.
import { type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import type { Decision } from "../../core/authority/decision.ts";
import { ANY_TEXT } from "../../core/authority/patterns/reserved.ts";
import type { FilePath, FileRefusal } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { isAtOrBelow, type Place, type Placed } from "./places.ts";
import { refused } from "./refusals.ts";

export type FileVerb = "fs.read" | "fs.write" | "fs.delete";
type ProtectedPaths = readonly (readonly string[])[];

/** More names than one pattern has stars: only a pattern over whole trees still matches. */
const witnessNames = 9;

const VERBS: Readonly<Record<FileVerb, VerbEntry>> = {
  "fs.read": entryOf("fs.read"),
  "fs.write": entryOf("fs.write"),
  "fs.delete": entryOf("fs.delete"),
};

/** Trees, and what is protected in them: the same for every judge. */
export class GuardedPlaces {
  readonly places: readonly Place[];
  readonly all: ProtectedPaths;
  /** For each tree the protected paths that can concern it. */
  readonly #protected: ReadonlyMap<Place, ProtectedPaths>;

  constructor(places: readonly Place[], protectedPaths: ProtectedPaths) {
    this.places = places;
    this.all = protectedPaths;
    this.#protected = new Map(
      places.map((place) => [
        place,
        protectedPaths.filter((path) => meets(path, place.named) || meets(path, place.real)),
      ]),
    );
  }

  in(place: Place): ProtectedPaths {
    return this.#protected.get(place) as ProtectedPaths;
  }
}

export class FileJudge {
  readonly #judge: Judge;
  readonly #guarded: GuardedPlaces;

  constructor(judge: Judge, guarded: GuardedPlaces) {
    this.#judge = judge;
    this.#guarded = guarded;
  }

  /** By the name it was asked for; null when it is granted. */
  asNamed(verb: FileVerb, { place, rest }: Placed): FileRefusal | null {
    const relevant = this.#guarded.in(place);
    const path = [...place.named, ...rest];
    if (relevant.length === 0) return this.#ask(verb, path, 0);
    const depth = guardedDepth(path, relevant);
    if (place.named === place.real || samePath(place.named, place.real)) return this.#ask(verb, path, depth);
    const real = guardedDepth([...place.real, ...rest], relevant);
    // The tree's own name leads into a protected path that no grant has named.
    if (real > 0 && real <= place.real.length) return refused("scope_violation", "protected");
    return this.#ask(verb, path, Math.max(depth, real === 0 ? 0 : real - place.real.length + place.named.length));
  }

  /** By where it really lies, or by any name a tree gives that place. */
  asReal(verb: FileVerb, real: FilePath): FileRefusal | null {
    const first = this.#ask(verb, real, guardedDepth(real, this.#guarded.all));
    if (first === null) return null;
    for (const place of this.#guarded.places) {
      if (samePath(place.named, place.real) || !isAtOrBelow(real, place.real)) continue;
      if (this.asNamed(verb, { place, rest: real.slice(place.real.length) }) === null) return null;
    }
    return first;
  }

  /** Whether reading covers a tree as a whole: every name at every depth, and nothing protected in it. */
  coversWhole(place: Place): boolean {
    if (place.inside.length > 0 || this.#guarded.in(place).length > 0) return false;
    const path = [...place.named];
    for (let names = 0; names <= witnessNames; names++) {
      if (this.#ask("fs.read", path, 0) !== null) return false;
      path.push(ANY_TEXT);
    }
    return true;
  }

  #ask(verb: FileVerb, segments: FilePath, depth: number): FileRefusal | null {
    const guarded = depth === 0 ? null : segments.map((_, at) => at < depth);
    return refusalOf(this.#judge({ verb: VERBS[verb], values: [{ segments, guarded }] }));
  }
}

function refusalOf(decision: Decision): FileRefusal | null {
  switch (decision.outcome) {
    case "allow":
      return null;
    case "ask":
      return refused("approval_required", "not granted without approval");
    case "deny":
      return refused(decision.code, "not granted");
  }
}

function entryOf(name: FileVerb): VerbEntry {
  const entry = verbEntry(name);
  if (entry === null) throw new Error(`there is no verb ${name}`);
  return entry;
}

/** How many leading segments are guarded, as `guardPath` has it. */
function guardedDepth(path: FilePath, protectedPaths: ProtectedPaths): number {
  let depth = 0;
  for (const entry of protectedPaths)
    if (entry.length > depth && entry.length <= path.length && matches(entry, path, entry.length)) depth = entry.length;
  return depth;
}

/** One of the two can lie at or below the other. */
function meets(entry: readonly string[], root: FilePath): boolean {
  return matches(entry, root, Math.min(entry.length, root.length));
}

function matches(entry: readonly string[], path: FilePath, length: number): boolean {
  for (let at = 0; at < length; at++) if (entry[at] !== "*" && entry[at] !== path[at]) return false;
  return true;
}

function samePath(left: FilePath, right: FilePath): boolean {
  return left.length === right.length && isAtOrBelow(left, right);
}
