// Names below a root that no program sees: our own folders and protected paths, by their own name and by link targets.
import { pathText } from "../../core/authority/axes/path.ts";
import { type PlanningResult, planValue, refusePlan } from "../../core/gate/programs/plan-refusal.ts";
import type { PlanPath, PlanRoot } from "./plan.ts";
import type { ExistingName, PlanFacts } from "./plan-facts.ts";
import { isWithin } from "./plan-path.ts";
import { AUTHORITY, couldHold } from "./root-rules.ts";
import { programPatterns } from "./start/search-path.ts";

type FactsToFind = Pick<PlanFacts, "protectedPaths" | "ours" | "runtime" | "workspaces">;

/** Patterns to look up before a plan is made; `*` matches one name. The results go into `PlanFacts.found`. */
export function namesToFind(root: PlanRoot | null, facts: FactsToFind): readonly PlanPath[] {
  const masked =
    root === null ? [] : patternsBelow(root.path, [...facts.protectedPaths, ...facts.ours, ...recordFolders(facts)]);
  return [...programPatterns(facts.runtime), ...masked];
}

/** The record folders of each workspace. */
export function recordFolders({ workspaces }: Pick<PlanFacts, "workspaces">): readonly PlanPath[] {
  return workspaces.map((workspace) => [...workspace, AUTHORITY, "records"]);
}

/** The limit of the native program. */
const masksMax = 4_096;

/** INVARIANT: parents before children, each name once, nothing below a masked name. */
export function maskedNames(
  root: PlanRoot,
  { ours, protectedPaths, found }: Pick<PlanFacts, "ours" | "protectedPaths" | "found">,
  /** Names that no grant shows to this program. */
  hidden: readonly PlanPath[] = [],
): PlanningResult<readonly PlanPath[]> {
  const patterns = patternsBelow(root.path, protectedPaths);
  const plain = patterns.filter((pattern) => !pattern.includes("*"));
  const starred = matchesOf(
    patterns.filter((pattern) => pattern.includes("*")),
    found,
  );
  // Authority files are not secret, and git would take a masked one for deleted.
  const names = [...plain, ...starred].filter((path) => path[path.length - 1] !== AUTHORITY);
  const all = [...ours, ...names, ...hidden].flatMap((path) => [path, ...behindLinks(path, found)]);
  const around = all.find((path) => isWithin(root.path, path));
  if (around !== undefined) return refusePlan("scope_violation", `a protected path is a link to ${pathText(around)}`);
  const masked = outermost(all.filter((path) => isWithin(path, root.path)));
  if (masked.length > masksMax)
    return refusePlan(
      "sandbox_unavailable",
      `more than ${masksMax} names below ${pathText(root.path)} are protected or not covered by \`fs.read\``,
      "name a narrower folder",
    );
  return planValue(masked);
}

/** Patterns that may match strictly below the root, with their first wildcards replaced by the root's own names. */
function patternsBelow(root: PlanPath, patterns: readonly PlanPath[]): readonly PlanPath[] {
  return patterns
    .filter((pattern) => couldHold(root, pattern))
    .map((pattern) => [...root, ...pattern.slice(root.length)]);
}

/** The existing names that match the patterns; behind a link, the names as the pattern spells them. */
function matchesOf(patterns: readonly PlanPath[], found: readonly ExistingName[]): readonly PlanPath[] {
  return patterns.flatMap((pattern) =>
    found
      .filter(({ path, kind }) => path.length === pattern.length || (kind === "link" && path.length < pattern.length))
      .filter(({ path }) => path.every((name, at) => pattern[at] === "*" || pattern[at] === name))
      .filter(({ path }) => !pattern.slice(path.length).includes("*"))
      .map(({ path }) => [...path, ...pattern.slice(path.length)]),
  );
}

/** Limit of nested links. */
const linksMax = 8;

/** The targets of a name that is a link or is reached through one. */
function behindLinks(path: PlanPath, found: readonly ExistingName[]): readonly PlanPath[] {
  const places: PlanPath[] = [];
  let place = path;
  for (let count = 0; count < linksMax; count++) {
    const link = found.find((name) => name.kind === "link" && isWithin(place, name.path));
    if (link === undefined || link.target === null) break;
    place = [...link.target, ...place.slice(link.path.length)];
    places.push(place);
  }
  return places;
}

function outermost(paths: readonly PlanPath[]): readonly PlanPath[] {
  const kept = new Map<string, PlanPath>();
  for (const path of [...paths].sort(
    (left, right) => left.length - right.length || (keyOf(left) < keyOf(right) ? -1 : 1),
  ))
    if (!path.some((_, at) => kept.has(keyOf(path.slice(0, at + 1))))) kept.set(keyOf(path), path);
  return [...kept.values()];
}

function keyOf(path: PlanPath): string {
  return path.join("/");
}
