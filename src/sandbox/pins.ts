// What in a root stays as it is, and what in it nobody sees.
import { pathText } from "../authority/path.ts";
import { gitPatterns, gitPins } from "./git-names.ts";
import { isAlong, isSame, isWithin } from "./places.ts";
import type { PinBase, Plan, PlanPath, PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { AUTHORITY, couldHold } from "./plan-places.ts";
import { type Planned, planned, refusePlan } from "./plan-refusal.ts";
import { HOME_NAMES, PROJECT_NAMES, type ProtectedName } from "./protected-names.ts";
import { programPatterns } from "./search-path.ts";
import { orderedPins, type WantedPin } from "./wanted-pin.ts";

type FactsToFind = Pick<PlanFacts, "home" | "workspaces" | "protectedPaths" | "runtime">;

/** Patterns to look for before a plan is made; `*` is any one name. What there is goes into `PlanFacts.found`. */
export function namesToFind(root: PlanRoot | null, facts: FactsToFind): readonly PlanPath[] {
  return [...programPatterns(facts.runtime), ...(root === null ? [] : namesBelow(root, facts))];
}

function namesBelow(root: PlanRoot, facts: FactsToFind): readonly PlanPath[] {
  const starred = patternsBelow(root.path, facts.protectedPaths).filter((pattern) => pattern.includes("*"));
  if (root.mode === "ro") return starred;
  const kept = basesOf(root.path, facts).flatMap((base) => [...gitPatterns(base), ...ownPackage(base)]);
  return [...starred, ...kept.filter((pattern) => couldHold(root.path, pattern))];
}

/** As many as the native program takes. */
const pinsMax = 1_024;

/** A root that is only read has nothing to keep as it is: names are masked in it and nothing is made. */
export function pinsOf(root: PlanRoot, runtime: readonly PlanPath[], facts: PlanFacts): Planned<readonly PinBase[]> {
  const kept = root.mode === "ro" ? [] : keptNames(root.path, runtime, facts);
  const inside = kept.find(({ path, action }) => action !== "held" && isWithin(root.path, path));
  if (inside !== undefined)
    return refusePlan("self_modification", `${pathText(inside.path)} stays as it is in every sandbox`, "root=ro");
  const pins = orderedPins(root.path, [...kept, ...maskedNames(root.path, facts)]);
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

/** The root, and every workspace and home folder that lies in it or around it. */
function basesOf(root: PlanPath, { home, workspaces }: FactsToFind): readonly PlanPath[] {
  const others = [...workspaces, ...(home === null ? [] : [home])].filter((path) => isAlong(path, root));
  return [root, ...others.filter((path) => !isSame(path, root))];
}

function keptNames(root: PlanPath, runtime: readonly PlanPath[], facts: PlanFacts): readonly WantedPin[] {
  const bases = basesOf(root, facts);
  const isHome = (base: PlanPath): boolean => facts.home !== null && isSame(base, facts.home);
  return [
    ...bases.flatMap((base) => [
      ...PROJECT_NAMES.map((name) => namePin(base, name)),
      ...(isHome(base) ? HOME_NAMES.map((name) => namePin(base, name)) : []),
      ...gitPins(base, facts.found),
    ]),
    ...bases.flatMap((base) => foundBy(ownPackage(base), facts)).map(asItIs),
    ...[facts.program, ...runtime].filter((path) => path.length > root.length && isWithin(path, root)).map(asItIs),
  ];
}

function namePin(base: PlanPath, { path, kind, absent }: ProtectedName): WantedPin {
  return {
    path: [...base, ...path],
    action: "readonly",
    absent: absent === "make" ? kind : "leave",
    base: base.length,
  };
}

function asItIs(path: PlanPath): WantedPin {
  return { path, action: "readonly", absent: "leave", base: path.length };
}

/** Our package as a project installs it, and where one package manager keeps the real one. */
function ownPackage(base: PlanPath): readonly PlanPath[] {
  const modules = [...base, "node_modules"];
  return [
    [...modules, "ambit"],
    [...modules, ".pnpm", "*", "node_modules", "ambit"],
  ];
}

/** Our own folders and protected paths. Authority files are no secret, and git would take a masked one for deleted. */
function maskedNames(root: PlanPath, facts: PlanFacts): readonly WantedPin[] {
  const patterns = patternsBelow(root, facts.protectedPaths);
  const plain = patterns.filter((pattern) => !pattern.includes("*"));
  const starred = foundBy(
    patterns.filter((pattern) => pattern.includes("*")),
    facts,
  );
  const paths = [...plain, ...starred].filter((path) => path[path.length - 1] !== AUTHORITY);
  return [...facts.ours, ...paths].map((path) => ({ path, action: "masked", absent: "leave", base: path.length }));
}

/** Those that may name something strictly below the root, with the root's own names in place of their first stars. */
function patternsBelow(root: PlanPath, patterns: readonly PlanPath[]): readonly PlanPath[] {
  return patterns
    .filter((pattern) => couldHold(root, pattern))
    .map((pattern) => [...root, ...pattern.slice(root.length)]);
}

function foundBy(patterns: readonly PlanPath[], { found }: PlanFacts): readonly PlanPath[] {
  return found
    .map(({ path }) => path)
    .filter((path) =>
      patterns.some(
        (pattern) => pattern.length === path.length && pattern.every((name, at) => name === "*" || name === path[at]),
      ),
    );
}
