// The root of a program: the deepest folder that every deciding grant shares around the requested directory, and whether it
// is writable. A request decided the run; the grants define how far it reaches.

import { guardPath, type PathSettings, pathText } from "../../authority/axes/path.ts";
import { isSegments, type Scope, scopeMatches, type Value } from "../../authority/axes/scope.ts";
import type { Authority, Chain } from "../../authority/chain.ts";
import type { Moment } from "../../authority/compiled.ts";
import type { Basis } from "../../authority/decision.ts";
import type { Grant, Level } from "../../authority/grant.ts";
import { writeLevel, writtenRoot } from "../../authority/judge.ts";
import { type Sequence, sequenceMatches } from "../../authority/patterns/sequence.ts";
import type { Request } from "../../authority/request.ts";
import { type PlanningResult, planValue, refusePlan } from "./plan-refusal.ts";

export type FolderPath = readonly string[];

export interface RootFacts {
  readonly moment: Moment;
  readonly protectedPaths: PathSettings["protectedPaths"];
}

/** A decided request: the deciding grants and the approval level. */
export interface PlanDecision {
  readonly authority: Authority;
  readonly request: Request;
  readonly by: Basis;
  /** 0 without approval; else the approved level. */
  readonly level: Level;
}

export interface ProgramRoot {
  readonly path: FolderPath;
  readonly mode: "ro" | "draft" | "live";
}

export interface RootChoice {
  readonly root: ProgramRoot;
  /** The directory in which the command starts: at the root or below it. */
  readonly directory: FolderPath;
}

/** Null where the request has no root: a throw-away sandbox. */
export function chooseRoot(
  decided: PlanDecision,
  { moment, protectedPaths }: RootFacts,
): PlanningResult<RootChoice | null> {
  const { request } = decided;
  const axis = request.verb.axes.findIndex(({ name }) => name === "root");
  if (axis < 0) return request.verb.verb === "sandbox.exec" ? planValue(null) : refusePlan("invalid_input", NO_PROCESS);
  const value = request.values[axis];
  const chain = decided.authority[decided.by.chain];
  if (!isSegments(value) || chain === undefined || chain.length !== decided.by.grants.length)
    return refusePlan("invalid_input", "the request does not say where to run", "in=/path/to/project");
  const directory = value.segments;
  const trees: FolderPath[] = [];
  for (const [place, compiled] of chain.entries()) {
    const grant = compiled.link.grants[decided.by.grants[place] as number];
    const tree = grant === undefined ? null : treeAround(grant, request, axis, directory);
    if (tree === null) return refusePlan("scope_violation", "a deciding grant does not cover the request");
    trees.push(tree);
  }
  const common = deepest(trees);
  // A grant for the whole machine still runs in a folder: the requested directory.
  const widest = common.length === 0 ? directory : common;
  if (writtenRoot(request) === null) return planValue({ root: { path: widest, mode: "ro" }, directory });
  const path = writablePart(widest, directory, (tree) => {
    const level = writeLevel(chain, guardPath(tree, protectedPaths), moment, "use");
    return level >= 0 && level <= approvedLevel(decided, chain);
  });
  if (path === null) return refusePlan("scope_violation", `writing all of ${pathText(directory)} is not covered`);
  const isLive = request.values[request.verb.axes.findIndex(({ name }) => name === "mode")] === "live";
  return planValue({ root: { path, mode: isLive ? "live" : "draft" }, directory });
}

/** The approval of the run itself: reading and writing may need the same level, and no more. What it wrote still asks to land. */
export function approvedLevel({ by, level }: PlanDecision, chain: Chain): Level {
  return chain.reduce((most: Level, compiled, place) => {
    const needs = compiled.link.grants[by.grants[place] ?? -1]?.conditions.ask ?? 0;
    return needs > most ? needs : most;
  }, level);
}

const NO_PROCESS = "only running programs needs a sandbox";

/** Each contains the requested directory, so they contain each other. */
function deepest(trees: readonly FolderPath[]): FolderPath {
  return trees.reduce((deep, tree) => (tree.length > deep.length ? tree : deep), []);
}

/** The widest tree of this grant around the directory; the directory itself where the grant names it by a pattern. */
function treeAround(grant: Grant, request: Request, axis: number, place: FolderPath): FolderPath | null {
  const scope = grant.scopes[axis];
  const value = request.values[axis];
  if (grant.verb !== request.verb || scope === undefined || !scopeMatches(scope, value)) return null;
  return treesOf(scope, value).reduce((wide, tree) => (tree.length < wide.length ? tree : wide), place);
}

/** The trees that cover the directory, except those in which a protected path excludes it. */
function treesOf(scope: Scope, value: Value): readonly FolderPath[] {
  if (scope.kind === "any") return [[]];
  if (scope.kind !== "sequences" || !isSegments(value)) return [];
  return scope.of
    .filter((pattern) => sequenceMatches(pattern, value))
    .map(treeOf)
    .filter((tree) => tree !== null);
}

function treeOf(pattern: Sequence): FolderPath | null {
  if (pattern[pattern.length - 1]?.kind !== "deep") return null;
  const names = pattern.slice(0, -1).map((segment) => (segment.kind === "literal" ? segment.text : null));
  return names.every((name) => name !== null) ? names : null;
}

/** From the widest tree down to the directory: the first in which the same chain allows writing every file. */
function writablePart(
  widest: FolderPath,
  place: FolderPath,
  isWritable: (tree: FolderPath) => boolean,
): FolderPath | null {
  for (let length = Math.max(widest.length, 1); length <= place.length; length++)
    if (isWritable(place.slice(0, length))) return place.slice(0, length);
  return null;
}
