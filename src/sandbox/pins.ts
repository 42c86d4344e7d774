// What in a root stays as it is, and what in it nobody sees.
import { pathText } from "../authority/path.ts";
import { foundBy, keptNames, keptPatterns } from "./kept-names.ts";
import { linkAt, throughLinks } from "./linked-names.ts";
import { isWithin } from "./places.ts";
import type { PinBase, Plan, PlanPath, PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { AUTHORITY, couldHold } from "./plan-places.ts";
import { type Planned, type PlanRefused, planned, refusePlan } from "./plan-refusal.ts";
import { programPatterns } from "./search-path.ts";
import { orderedPins, type WantedPin } from "./wanted-pin.ts";

type FactsToFind = Pick<PlanFacts, "home" | "workspaces" | "protectedPaths" | "ours" | "runtime">;

/** Patterns to look for before a plan is made; `*` is any one name. What there is goes into `PlanFacts.found`. */
export function namesToFind(root: PlanRoot | null, facts: FactsToFind): readonly PlanPath[] {
  return [...programPatterns(facts.runtime), ...(root === null ? [] : namesBelow(root, facts))];
}

function namesBelow({ path, mode }: PlanRoot, facts: FactsToFind): readonly PlanPath[] {
  const masked = patternsBelow(path, [...facts.protectedPaths, ...facts.ours]);
  const kept = mode === "ro" ? [] : keptPatterns(path, facts).filter((pattern) => couldHold(path, pattern));
  return [...masked, ...kept];
}

/** As many as the native program takes. */
const pinsMax = 1_024;

/** A root that is only read has nothing to keep as it is: names are masked in it and nothing is made. */
export function pinsOf(root: PlanRoot, runtime: readonly PlanPath[], facts: PlanFacts): Planned<readonly PinBase[]> {
  const kept = root.mode === "ro" ? [] : keptNames(root.path, runtime, facts);
  const wanted = throughLinks([...kept, ...maskedNames(root, facts)], facts.found);
  const fault = wholeRootFault(root, wanted) ?? linkFault(root, facts);
  if (fault !== null) return fault;
  const pins = orderedPins(root, wanted);
  if (pins.length > pinsMax)
    return refusePlan(
      "sandbox_unavailable",
      `there are more than ${pinsMax} names to keep below ${pathText(root.path)}`,
    );
  return planned(pins.length === 0 ? [] : [{ base: root.path, pins }]);
}

/**
 * Names that must not appear while a command runs, where nothing could be made in their place. The owner looks for
 * those that were not there at the start; one that is there afterwards is put aside, and the sandbox ends.
 */
export function watchedNames(plan: Pick<Plan, "pinned">): readonly PlanPath[] {
  return plan.pinned.flatMap(({ base, pins }) =>
    pins.filter(({ action, absent }) => action !== "held" && absent === "leave").map(({ path }) => [...base, ...path]),
  );
}

/** A name that is the root or lies above it, by itself or by a link. */
function wholeRootFault(root: PlanRoot, wanted: readonly WantedPin[]): PlanRefused | null {
  const around = wanted.find(({ path, action }) => action !== "held" && isWithin(root.path, path));
  if (around === undefined) return null;
  return around.action === "masked"
    ? refusePlan("scope_violation", `a protected path leads to ${pathText(around.path)}`)
    : refusePlan("self_modification", `${pathText(around.path)} stays as it is in every sandbox`, "root=ro");
}

/** No mount holds a link. Whoever replaces one on the way to our own folders says what we find there. */
function linkFault({ path: root, mode }: PlanRoot, { ours, found }: PlanFacts): PlanRefused | null {
  const below = mode === "ro" ? [] : ours.filter((folder) => isWithin(folder, root));
  const link = below.map((folder) => linkAt(folder, found)).find((one) => one !== null);
  if (link == null) return null;
  return refusePlan(
    "self_modification",
    `${pathText(link.path)} is a link on the way to ambit's own files, and could be replaced`,
    "root=ro",
  );
}

/** Our own folders and protected paths. Authority files are no secret, and git would take a masked one for deleted. */
function maskedNames({ path: root, mode }: PlanRoot, facts: PlanFacts): readonly WantedPin[] {
  const { ours, protectedPaths, found, home } = facts;
  const patterns = patternsBelow(root, protectedPaths);
  const plain = patterns.filter((pattern) => !pattern.includes("*"));
  const starred = foundBy(
    patterns.filter((pattern) => pattern.includes("*")),
    found,
  );
  const paths = [...plain, ...starred].filter((path) => path[path.length - 1] !== AUTHORITY);
  return [
    // Made where they are not, or somebody else would make them.
    ...ours.map((path): WantedPin => {
      const base = home !== null && isWithin(path, home) ? Math.max(home.length, root.length) : root.length;
      return { path, action: "masked", absent: mode === "ro" ? "leave" : "folder", base };
    }),
    ...paths.map((path): WantedPin => ({ path, action: "masked", absent: "leave", base: path.length })),
  ];
}

/** Those that may name something strictly below the root, with the root's own names in place of their first stars. */
function patternsBelow(root: PlanPath, patterns: readonly PlanPath[]): readonly PlanPath[] {
  return patterns
    .filter((pattern) => couldHold(root, pattern))
    .map((pattern) => [...root, ...pattern.slice(root.length)]);
}
