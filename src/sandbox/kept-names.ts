// What stays as it is in a root that is written: protected names, git's settings, our own package and our program.
import { gitPatterns } from "./git-names.ts";
import { isAlong, isSame } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { HOME_NAMES, PROJECT_NAMES, type ProtectedName } from "./protected-names.ts";

type Bases = Pick<PlanFacts, "home" | "workspaces">;

/** Patterns to look for: what there is decides what is kept, and where a name is a link, what it leads to is kept. */
export function keptPatterns(root: PlanPath, facts: Bases): readonly PlanPath[] {
  return basesOf(root, facts).flatMap((base) => [
    ...namesIn(base, facts).map(({ path }) => [...base, ...path]),
    ...gitPatterns(base),
    ...ownPackage(base),
  ]);
}

/** The root, and every workspace and home folder that lies in it or around it. */
function basesOf(root: PlanPath, { home, workspaces }: Bases): readonly PlanPath[] {
  const others = [...workspaces, ...(home === null ? [] : [home])].filter((path) => isAlong(path, root));
  return [root, ...others.filter((path) => !isSame(path, root))];
}

function namesIn(base: PlanPath, { home }: Bases): readonly ProtectedName[] {
  return home !== null && isSame(base, home) ? [...PROJECT_NAMES, ...HOME_NAMES] : PROJECT_NAMES;
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
