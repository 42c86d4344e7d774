// What inside `.git` makes git run programs: its hooks, its settings, and the files that say where settings lie. They
// stay as they are; commit, fetch and push need none of them changed.
import { isSame } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { FoundName } from "./plan-facts.ts";
import type { WantedPin } from "./wanted-pin.ts";

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

export function gitPins(base: PlanPath, found: readonly FoundName[]): readonly WantedPin[] {
  const git = [...base, GIT];
  const own = found.find(({ path }) => isSame(path, git)) ?? null;
  // Where the repository is; what is pinned by the name that is a link is pinned there by `throughLinks`.
  const place = own?.kind === "link" ? own.target : git;
  const kind = place === null ? null : (found.find(({ path }) => isSame(path, place))?.kind ?? null);
  const readonly = (path: PlanPath, absent: WantedPin["absent"]): WantedPin => ({
    path: [...git, ...path],
    action: "readonly",
    absent,
    base: base.length,
  });
  // A worktree or a submodule: the file says where the repository is. Or a link that leads out of here, or nowhere.
  if (place === null || kind === "file" || (own?.kind === "link" && kind !== "folder")) return [readonly([], "leave")];
  // An empty folder may be one that another sandbox has just made.
  const isRepository = found.some(({ path }) => isSame(path, [...place, "HEAD"]));
  const below = found
    .filter(({ path }) => WITHIN.some((pattern) => isMatch(path, [...place, ...pattern])))
    .map(({ path }) => path.slice(place.length));
  const modules = below.filter((path) => path[0] === "modules" && path[path.length - 1] === "config");
  return [
    { path: git, action: "held", absent: "folder", base: base.length },
    readonly(["hooks"], "folder"),
    // Made only where a repository is: a new one is born with its settings, and that is watched instead.
    readonly(["config"], isRepository ? "file" : "leave"),
    readonly(["config.worktree"], "leave"),
    // An empty one would keep git from working at all, so it cannot be made, only watched.
    readonly(["commondir"], "leave"),
    ...below.map((path) => readonly(path, "leave")),
    ...modules.flatMap((path) => [
      readonly([...path.slice(0, -1), "hooks"], "folder"),
      readonly([...path.slice(0, -1), "commondir"], "leave"),
    ]),
  ];
}

function isMatch(path: PlanPath, pattern: PlanPath): boolean {
  return path.length === pattern.length && pattern.every((name, at) => name === "*" || name === path[at]);
}
