// Patterns over paths as folders and files: which folders they cover whole, and which patterns name neither a whole folder nor
// a single file, so that no sandbox can hold them.
import { guardPath, type PathSettings } from "../axes/path.ts";
import type { Scope } from "../axes/scope.ts";
import { ANY_TEXT } from "./reserved.ts";
import { DEEP, segmentMatches } from "./segment.ts";
import { anyMatches, isRun, type Sequence, starSegments } from "./sequence.ts";

export function pathPatterns(scope: Scope | undefined): readonly Sequence[] {
  if (scope?.kind === "any") return [[DEEP]];
  return scope?.kind === "sequences" ? scope.of : [];
}

/** As in `witness.ts`, unknown names stand for all: everything below the folder is covered, its own name aside. */
export function coversTree(
  patterns: readonly Sequence[],
  folder: readonly string[],
  protectedPaths: PathSettings["protectedPaths"],
): boolean {
  const stars = patterns.reduce((most, pattern) => Math.max(most, starSegments(pattern)), 0);
  const { guarded } = guardPath(folder, protectedPaths);
  for (let copies = 1; copies <= stars + 2; copies++) {
    const unknown = new Array<string>(copies).fill(ANY_TEXT);
    const segments = [...folder, ...unknown];
    const guards = guarded === null ? null : [...guarded, ...unknown.map(() => false)];
    if (!anyMatches(patterns, { segments, guarded: guards })) return false;
  }
  return true;
}

export interface TreePath {
  readonly path: readonly string[];
  /** The folder with everything below it; otherwise this name alone. */
  readonly isTree: boolean;
}

/** The plain folder or file strictly below the root that the pattern names, or none. */
export function plainPath(pattern: Sequence, root: readonly string[]): readonly TreePath[] {
  const path = literalStart(pattern);
  const isTree = path.length === pattern.length - 1 && pattern[path.length]?.kind === "deep";
  const isPlain = isTree || path.length === pattern.length;
  return isPlain && path.length > root.length && root.every((name, at) => name === path[at]) ? [{ path, isTree }] : [];
}

export function literalStart(pattern: Sequence): readonly string[] {
  const names: string[] = [];
  for (const segment of pattern) {
    if (segment.kind !== "literal") break;
    names.push(segment.text);
  }
  return names;
}

/** Neither a plain folder nor a plain file, and it may match something below the root. */
export function isStarredBelow(pattern: Sequence, root: readonly string[]): boolean {
  if (pattern.every(({ kind }) => kind === "literal")) return false;
  if (literalStart(pattern).length === pattern.length - 1 && pattern[pattern.length - 1]?.kind === "deep") return false;
  let places = new Set(reachable(pattern, 0));
  for (const name of root) {
    const next = new Set<number>();
    for (const place of places) {
      const segment = pattern[place];
      if (segment === undefined) continue;
      if (isRun(segment)) for (const one of reachable(pattern, place)) next.add(one);
      else if (segmentMatches(segment, name)) for (const one of reachable(pattern, place + 1)) next.add(one);
    }
    places = next;
  }
  return [...places].some((place) => place < pattern.length);
}

/** The place itself and, behind a run that matches no segment, the next ones. */
function reachable(pattern: Sequence, from: number): readonly number[] {
  const places = [from];
  for (let place = from; pattern[place] !== undefined && isRun(pattern[place] as Sequence[number]); place++)
    places.push(place + 1);
  return places;
}

/** Whether the path is one of these, or lies in a folder among them. */
export function isInside(path: readonly string[], paths: readonly TreePath[]): boolean {
  return paths.some(
    (one) => (one.isTree || one.path.length === path.length) && one.path.every((name, at) => name === path[at]),
  );
}

/** Of patterns that cover a part of the root: those that no sandbox can hold for a program there. */
export function unheldPatterns(patterns: readonly Sequence[], root: readonly string[]): readonly Sequence[] {
  if (coversTree(patterns, root, [])) return [];
  const trees = patterns.flatMap((pattern) => plainPath(pattern, root)).filter(({ isTree }) => isTree);
  return patterns.filter((pattern) => isStarredBelow(pattern, root) && !isInside(literalStart(pattern), trees));
}
