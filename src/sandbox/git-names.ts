// What inside `.git` makes git run programs: its hooks, its settings, and the files that say where settings lie. They
// stay as they are; commit, fetch and push need none of them changed.
import type { PlanPath } from "./plan.ts";

const GIT = ".git";

/** How many names a submodule's own may have, those of the repositories it lies in among them. */
const moduleNamesMax = 4;
const MODULES: readonly PlanPath[] = Array.from({ length: moduleNamesMax }, (_, more) => [
  "modules",
  ...Array.from({ length: more + 1 }, () => "*"),
]);

/**
 * Absent on purpose: `info/attributes` and `.gitattributes` name programs only the settings can define; refs, objects,
 * `alternates` and `sparse-checkout` are data.
 */
const WITHIN: readonly PlanPath[] = [
  ...MODULES.flatMap((path) => [
    [...path, "config"],
    [...path, "hooks"],
  ]),
  ["worktrees", "*", "commondir"],
  ["worktrees", "*", "config.worktree"],
];
const OWN: readonly PlanPath[] = [["HEAD"], ["hooks"], ["config"], ["config.worktree"], ["commondir"]];

/** Patterns whose presence decides what is pinned. */
export function gitPatterns(base: PlanPath): readonly PlanPath[] {
  return [[], ...OWN, ...WITHIN].map((path) => [...base, GIT, ...path]);
}
