// The root of a sandbox: the deepest folder that every deciding grant has in common around the place asked for, and
// whether it may be changed. A request decided this; the grants say how far it reaches.

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
import { type Planned, planned, refusePlan } from "./plan-refusal.ts";

/** What was decided, by whom, and how much of a person stands behind it. */
export interface Decided {
  readonly authority: Authority;
  readonly request: Request;
  readonly by: Basis;
  /** 0 where nobody was asked; else what was approved. */
  readonly level: Level;
}

/** Null where the decision does not let it happen, or asks for more of a person than was there. */
export function decidedBy(authority: Authority, request: Request, decision: Decision, approved: Level): Decided | null {
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

export interface RootAsked {
  readonly root: PlanRoot;
  /** Where the command starts: at the root or below it. */
  readonly directory: PlanPath;
}

/** Null where the request has no root: a throw-away sandbox. */
export function rootAsked(
  decided: Decided,
  { moment, protectedPaths }: Pick<PlanFacts, "moment" | "protectedPaths">,
): Planned<RootAsked | null> {
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
  // A grant for the whole machine still runs somewhere: there.
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

/** Each contains the place asked for, so they contain each other. */
function deepest(trees: readonly PlanPath[]): PlanPath {
  return trees.reduce((deep, tree) => (tree.length > deep.length ? tree : deep), []);
}

/** The widest tree of this grant around the place; the place itself where the grant names it in another way. */
function treeAround(grant: Grant, request: Request, axis: number, place: PlanPath): PlanPath | null {
  const scope = grant.scopes[axis];
  const value = request.values[axis];
  if (grant.verb !== request.verb || scope === undefined || !scopeMatches(scope, value)) return null;
  return treesOf(scope, value).reduce((wide, tree) => (tree.length < wide.length ? tree : wide), place);
}

/** Of its trees those that cover the place: one that a protected path keeps from it does not count. */
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

/** From the widest tree down to the place asked for: the first that the same chain lets be written to the last file. */
function writablePart(widest: PlanPath, place: PlanPath, isWritable: (tree: PlanPath) => boolean): PlanPath | null {
  for (let length = Math.max(widest.length, 1); length <= place.length; length++)
    if (isWritable(place.slice(0, length))) return place.slice(0, length);
  return null;
}

/** A folder as somebody writes it, for a root: absolute, one folder, and not the whole machine. */
export function parsePlanRoot(text: string): Planned<PlanPath> {
  const path = parsePath(text, { home: null, base: null, protectedPaths: [] });
  if (!path.ok) return refusePlan("invalid_input", `a root is an absolute path: ${path.message}`);
  if (path.value.segments.length === 0) return refusePlan("scope_violation", WHOLE_MACHINE, NARROWER);
  return planned(path.value.segments);
}

export const WHOLE_MACHINE = "the whole machine is never a root";
export const NARROWER = "name the project's own folder";
