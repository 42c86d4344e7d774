// Chooses the root of a sandbox: the deepest folder that every deciding grant shares around the requested directory,
// and whether it is writable. A request decided the run; the grants define how far it reaches.

import { guardPath, parsePath, pathText } from "../../core/authority/axes/path.ts";
import { isSegments, type Scope, scopeMatches, type Value } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Basis, Decision } from "../../core/authority/decision.ts";
import type { Grant, Level } from "../../core/authority/grant.ts";
import { type Sequence, sequenceMatches } from "../../core/authority/patterns/sequence.ts";
import type { Request } from "../../core/authority/request.ts";
import { writeLevel, writtenRoot } from "../../core/authority/writable-root.ts";
import type { PlanPath, PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { type PlanningResult, planned, refusePlan } from "./plan-refusal.ts";

/** A decided request: the deciding grants and the approval level. */
export interface PlanDecision {
  readonly authority: Authority;
  readonly request: Request;
  readonly by: Basis;
  /** 0 without approval; else the approved level. */
  readonly level: Level;
}

/** Null where the decision denies, or requires a higher approval level. */
export function planDecision(
  authority: Authority,
  request: Request,
  decision: Decision,
  approved: Level,
): PlanDecision | null {
  switch (decision.outcome) {
    case "allow":
      return { authority, request, by: decision.by, level: 0 };
    case "ask":
      return decision.level > approved ? null : { authority, request, by: decision.by, level: decision.level };
    case "deny":
      return null;
    default:
      return decision satisfies never;
  }
}

export interface RootChoice {
  readonly root: PlanRoot;
  /** The directory in which the command starts: at the root or below it. */
  readonly directory: PlanPath;
}

/** Null where the request has no root: a throw-away sandbox. */
export function chooseRoot(
  decided: PlanDecision,
  { moment, protectedPaths }: Pick<PlanFacts, "moment" | "protectedPaths">,
): PlanningResult<RootChoice | null> {
  const { request } = decided;
  const axis = request.verb.axes.findIndex(({ name }) => name === "root");
  if (axis < 0) return request.verb.verb === "sandbox.exec" ? planned(null) : refusePlan("invalid_input", NO_PROCESS);
  const value = request.values[axis];
  const chain = decided.authority[decided.by.chain];
  if (!isSegments(value) || chain === undefined || chain.length !== decided.by.grants.length)
    return refusePlan("invalid_input", "the request does not say where to run", "in=/path/to/project");
  const directory = value.segments;
  const trees: PlanPath[] = [];
  for (const [place, compiled] of chain.entries()) {
    const grant = compiled.link.grants[decided.by.grants[place] as number];
    const tree = grant === undefined ? null : treeAround(grant, request, axis, directory);
    if (tree === null) return refusePlan("scope_violation", "a deciding grant does not cover the request");
    trees.push(tree);
  }
  const common = deepest(trees);
  // A grant for the whole machine still runs in a folder: the requested directory.
  const widest = common.length === 0 ? directory : common;
  if (writtenRoot(request) === null) return planned({ root: { path: widest, mode: "ro" }, directory });
  const path = writablePart(widest, directory, (tree) => {
    const level = writeLevel(chain, guardPath(tree, protectedPaths), moment, "use");
    return level >= 0 && level <= decided.level;
  });
  if (path === null) return refusePlan("scope_violation", `writing all of ${pathText(directory)} is not covered`);
  const isLive = request.values[request.verb.axes.findIndex(({ name }) => name === "mode")] === "live";
  return planned({ root: { path, mode: isLive ? "live" : "draft" }, directory });
}

const NO_PROCESS = "only running programs needs a sandbox";

/** Each contains the requested directory, so they contain each other. */
function deepest(trees: readonly PlanPath[]): PlanPath {
  return trees.reduce((deep, tree) => (tree.length > deep.length ? tree : deep), []);
}

/** The widest tree of this grant around the directory; the directory itself where the grant names it by a pattern. */
function treeAround(grant: Grant, request: Request, axis: number, place: PlanPath): PlanPath | null {
  const scope = grant.scopes[axis];
  const value = request.values[axis];
  if (grant.verb !== request.verb || scope === undefined || !scopeMatches(scope, value)) return null;
  return treesOf(scope, value).reduce((wide, tree) => (tree.length < wide.length ? tree : wide), place);
}

/** The trees that cover the directory, except those in which a protected path excludes it. */
function treesOf(scope: Scope, value: Value): readonly PlanPath[] {
  if (scope.kind === "any") return [[]];
  if (scope.kind !== "sequences" || !isSegments(value)) return [];
  return scope.of
    .filter((pattern) => sequenceMatches(pattern, value))
    .map(treeOf)
    .filter((tree) => tree !== null);
}

function treeOf(pattern: Sequence): PlanPath | null {
  if (pattern[pattern.length - 1]?.kind !== "deep") return null;
  const names = pattern.slice(0, -1).map((segment) => (segment.kind === "literal" ? segment.text : null));
  return names.every((name) => name !== null) ? names : null;
}

/** From the widest tree down to the directory: the first in which the same chain allows writing every file. */
function writablePart(widest: PlanPath, place: PlanPath, isWritable: (tree: PlanPath) => boolean): PlanPath | null {
  for (let length = Math.max(widest.length, 1); length <= place.length; length++)
    if (isWritable(place.slice(0, length))) return place.slice(0, length);
  return null;
}

/** A folder as a user writes it, for a root: absolute, one folder, and not `/`. */
export function parsePlanRoot(text: string): PlanningResult<PlanPath> {
  const path = parsePath(text, { home: null, base: null, protectedPaths: [] });
  if (!path.ok) return refusePlan("invalid_input", `a root is an absolute path: ${path.message}`);
  if (path.value.segments.length === 0) return refusePlan("scope_violation", WHOLE_MACHINE, NARROWER);
  return planned(path.value.segments);
}

export const WHOLE_MACHINE = "the whole machine is never a root";
export const NARROWER = "name the project's own folder";
