// What stays as it is in a root that is written: protected names, git's settings, our own package and our program.
import { gitPatterns, gitPins } from "./git-names.ts";
import { isAlong, isSame, isWithin } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { FoundName, PlanFacts } from "./plan-facts.ts";
import { HOME_NAMES, PROJECT_NAMES, type ProtectedName } from "./protected-names.ts";
import type { WantedPin } from "./wanted-pin.ts";

type Bases = Pick<PlanFacts, "home" | "workspaces">;

/** Patterns to look for: what there is decides what is kept, and where a name is a link, what it leads to is kept. */
export function keptPatterns(root: PlanPath, facts: Bases): readonly PlanPath[] {
  return basesOf(root, facts).flatMap((base) => [
    ...namesIn(base, facts).map(({ path }) => [...base, ...path]),
    ...gitPatterns(base),
    ...ownPackage(base),
  ]);
}

export function keptNames(root: PlanPath, runtime: readonly PlanPath[], facts: PlanFacts): readonly WantedPin[] {
  const bases = basesOf(root, facts);
  return [
    ...bases.flatMap((base) => [
      ...namesIn(base, facts).map((name) => namePin(base, name)),
      ...gitPins(base, facts.found),
    ]),
    ...bases.flatMap((base) => foundBy(ownPackage(base), facts.found)).map(asItIs),
    ...[facts.program, ...runtime].filter((path) => path.length > root.length && isWithin(path, root)).map(asItIs),
  ];
}

/** Of the names that were found, those the patterns name; behind a link, the names as the pattern has them. */
export function foundBy(patterns: readonly PlanPath[], found: readonly FoundName[]): readonly PlanPath[] {
  return patterns.flatMap((pattern) =>
    found
      .filter(({ path, kind }) => path.length === pattern.length || (kind === "link" && path.length < pattern.length))
      .filter(({ path }) => path.every((name, at) => pattern[at] === "*" || pattern[at] === name))
      .filter(({ path }) => !pattern.slice(path.length).includes("*"))
      .map(({ path }) => [...path, ...pattern.slice(path.length)]),
  );
}

/** The root, and every workspace and home folder that lies in it or around it. */
function basesOf(root: PlanPath, { home, workspaces }: Bases): readonly PlanPath[] {
  const others = [...workspaces, ...(home === null ? [] : [home])].filter((path) => isAlong(path, root));
  return [root, ...others.filter((path) => !isSame(path, root))];
}

function namesIn(base: PlanPath, { home }: Bases): readonly ProtectedName[] {
  return home !== null && isSame(base, home) ? [...PROJECT_NAMES, ...HOME_NAMES] : PROJECT_NAMES;
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

/** Our package as a project installs it, the name it is started by, and where one package manager keeps the real one. */
function ownPackage(base: PlanPath): readonly PlanPath[] {
  const modules = [...base, "node_modules"];
  return [
    [...modules, "ambit"],
    [...modules, ".bin", "ambit"],
    [...modules, ".pnpm", "*", "node_modules", "ambit"],
  ];
}
