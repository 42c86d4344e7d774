// Names below a root that no program sees: our own folders and protected paths, by their own name and by the place a link
// leads to.
import { pathText } from "../../core/authority/axes/path.ts";
import { isWithin } from "./places.ts";
import type { PlanPath, PlanRoot } from "./plan.ts";
import type { FoundName, PlanFacts } from "./plan-facts.ts";
import { AUTHORITY, couldHold } from "./plan-places.ts";
import { type Planned, planned, refusePlan } from "./plan-refusal.ts";
import { programPatterns } from "./start/search-path.ts";

type FactsToFind = Pick<PlanFacts, "protectedPaths" | "ours" | "runtime" | "workspaces">;

/** Patterns to look for before a plan is made; `*` is any one name. What there is goes into `PlanFacts.found`. */
export function namesToFind(root: PlanRoot | null, facts: FactsToFind): readonly PlanPath[] {
  const masked =
    root === null ? [] : patternsBelow(root.path, [...facts.protectedPaths, ...facts.ours, ...recordFolders(facts)]);
  return [...programPatterns(facts.runtime), ...masked];
}

/** Where each workspace keeps its records. */
export function recordFolders({ workspaces }: Pick<PlanFacts, "workspaces">): readonly PlanPath[] {
  return workspaces.map((workspace) => [...workspace, AUTHORITY, "records"]);
}

/** As many as the native program takes. */
const masksMax = 4_096;

/** INVARIANT: parents before what lies in them, each name once, nothing below a name that is masked anyway. */
export function maskedNames(
  root: PlanRoot,
  { ours, protectedPaths, found }: Pick<PlanFacts, "ours" | "protectedPaths" | "found">,
  /** Names that no grant shows to this program. */
  hidden: readonly PlanPath[] = [],
): Planned<readonly PlanPath[]> {
  const patterns = patternsBelow(root.path, protectedPaths);
  const plain = patterns.filter((pattern) => !pattern.includes("*"));
  const starred = matchesOf(
    patterns.filter((pattern) => pattern.includes("*")),
    found,
  );
  // Authority files are no secret, and git would take a masked one for deleted.
  const names = [...plain, ...starred].filter((path) => path[path.length - 1] !== AUTHORITY);
  const all = [...ours, ...names, ...hidden].flatMap((path) => [path, ...behindLinks(path, found)]);
  const around = all.find((path) => isWithin(root.path, path));
  if (around !== undefined) return refusePlan("scope_violation", `a protected path leads to ${pathText(around)}`);
  const masked = outermost(all.filter((path) => isWithin(path, root.path)));
  if (masked.length > masksMax)
    return refusePlan(
      "sandbox_unavailable",
      `more than ${masksMax} names below ${pathText(root.path)} are protected or not covered by \`fs.read\``,
      "name a narrower folder",
    );
  return planned(masked);
}

/** Those that may name something strictly below the root, with the root's own names in place of their first stars. */
function patternsBelow(root: PlanPath, patterns: readonly PlanPath[]): readonly PlanPath[] {
  return patterns
    .filter((pattern) => couldHold(root, pattern))
    .map((pattern) => [...root, ...pattern.slice(root.length)]);
}

/** Of the names that were found, those the patterns name; behind a link, the names as the pattern has them. */
function matchesOf(patterns: readonly PlanPath[], found: readonly FoundName[]): readonly PlanPath[] {
  return patterns.flatMap((pattern) =>
    found
      .filter(({ path, kind }) => path.length === pattern.length || (kind === "link" && path.length < pattern.length))
      .filter(({ path }) => path.every((name, at) => pattern[at] === "*" || pattern[at] === name))
      .filter(({ path }) => !pattern.slice(path.length).includes("*"))
      .map(({ path }) => [...path, ...pattern.slice(path.length)]),
  );
}

/** A path of links in links is at its end after this many. */
const linksMax = 8;

/** The places a name leads to where it is a link or is reached through one. */
function behindLinks(path: PlanPath, found: readonly FoundName[]): readonly PlanPath[] {
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
