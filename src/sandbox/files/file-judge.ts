// Decides on files by every name they have. A path in a tree has the name that authority uses and the name that the
// kernel uses; where a protected path is at, below or above either of them, it is protected under both.
import { type VerbEntry, verbEntry } from "../../core/authority/catalog.ts";
import type { Decision } from "../../core/authority/decision.ts";
import { ANY_TEXT } from "../../core/authority/patterns/reserved.ts";
import type { FilePath, FileRefusal } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { isAtOrBelow, type OpenTree, type TreePosition } from "./open-trees.ts";
import { fileRefusal } from "./refusals.ts";

export type FileVerb = "fs.read" | "fs.write" | "fs.delete";
type ProtectedPaths = readonly (readonly string[])[];

/** More names than one pattern has stars: only a pattern over whole trees still matches. */
const witnessNames = 9;

const VERBS: Readonly<Record<FileVerb, VerbEntry>> = {
  "fs.read": entryOf("fs.read"),
  "fs.write": entryOf("fs.write"),
  "fs.delete": entryOf("fs.delete"),
};

/** Trees and the protected paths in them: the same for every judge. */
export class GuardedTrees {
  readonly trees: readonly OpenTree[];
  readonly all: ProtectedPaths;
  /** For each tree the protected paths that can concern it. */
  readonly #protected: ReadonlyMap<OpenTree, ProtectedPaths>;

  constructor(trees: readonly OpenTree[], protectedPaths: ProtectedPaths) {
    this.trees = trees;
    this.all = protectedPaths;
    this.#protected = new Map(
      trees.map((tree) => [tree, protectedPaths.filter((path) => meets(path, tree.named) || meets(path, tree.real))]),
    );
  }

  in(tree: OpenTree): ProtectedPaths {
    return this.#protected.get(tree) as ProtectedPaths;
  }
}

export class FileJudge {
  readonly #judge: Judge;
  readonly #guarded: GuardedTrees;

  constructor(judge: Judge, guarded: GuardedTrees) {
    this.#judge = judge;
    this.#guarded = guarded;
  }

  /** Decides by the requested name; null when it is granted. */
  asNamed(verb: FileVerb, { tree, rest }: TreePosition): FileRefusal | null {
    const relevant = this.#guarded.in(tree);
    const path = [...tree.named, ...rest];
    if (relevant.length === 0) return this.#ask(verb, path, 0);
    const depth = guardedDepth(path, relevant);
    if (tree.named === tree.real || samePath(tree.named, tree.real)) return this.#ask(verb, path, depth);
    const real = guardedDepth([...tree.real, ...rest], relevant);
    // The tree's own name leads into a protected path that no grant names.
    if (real > 0 && real <= tree.real.length) return fileRefusal("scope_violation", "protected");
    return this.#ask(verb, path, Math.max(depth, real === 0 ? 0 : real - tree.real.length + tree.named.length));
  }

  /** Decides by the real path, or by any name a tree gives it. */
  asReal(verb: FileVerb, real: FilePath): FileRefusal | null {
    const first = this.#ask(verb, real, guardedDepth(real, this.#guarded.all));
    if (first === null) return null;
    for (const tree of this.#guarded.trees) {
      if (samePath(tree.named, tree.real) || !isAtOrBelow(real, tree.real)) continue;
      if (this.asNamed(verb, { tree, rest: real.slice(tree.real.length) }) === null) return null;
    }
    return first;
  }

  /** Whether read grants cover a whole tree: every name at every depth, and nothing protected in it. */
  coversWhole(tree: OpenTree): boolean {
    if (tree.inside.length > 0 || this.#guarded.in(tree).length > 0) return false;
    const path = [...tree.named];
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
      return fileRefusal("approval_required", "not granted without approval");
    case "deny":
      return fileRefusal(decision.code, "not granted");
  }
}

function entryOf(name: FileVerb): VerbEntry {
  const entry = verbEntry(name);
  if (entry === null) throw new Error(`there is no verb ${name}`);
  return entry;
}

/** How many leading segments are guarded, as `guardPath` counts them. */
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
