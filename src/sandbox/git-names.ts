// What inside `.git` makes git run programs: its hooks, its settings, and the files that say where settings lie. They
// stay as they are; commit, fetch and push need none of them changed.
import { isSame } from "./places.ts";
import type { PlanPath } from "./plan.ts";
import type { FoundName } from "./plan-facts.ts";
import type { WantedPin } from "./wanted-pin.ts";

const GIT = ".git";

/**
 * Absent on purpose: `info/attributes` and `.gitattributes` name programs only the settings can define; refs, objects,
 * `alternates` and `sparse-checkout` are data.
 */
const WITHIN: readonly PlanPath[] = [
  ["modules", "*", "config"],
  ["modules", "*", "hooks"],
  ["modules", "*", "*", "config"],
  ["modules", "*", "*", "hooks"],
  ["worktrees", "*", "commondir"],
  ["worktrees", "*", "config.worktree"],
];

/** Patterns whose presence decides what is pinned. */
export function gitPatterns(base: PlanPath): readonly PlanPath[] {
  return [[...base, GIT], ...WITHIN.map((path) => [...base, GIT, ...path])];
}

export function gitPins(base: PlanPath, found: readonly FoundName[]): readonly WantedPin[] {
  const git = [...base, GIT];
  const kind = found.find(({ path }) => isSame(path, git))?.kind ?? null;
  const readonly = (path: PlanPath, absent: WantedPin["absent"]): WantedPin => ({
    path: [...git, ...path],
    action: "readonly",
    absent,
    base: base.length,
  });
  // A worktree or a submodule: the file says where the repository is.
  if (kind === "file" || kind === "link") return [readonly([], "leave")];
  const isThere = kind === "folder";
  const below = found.filter(({ path }) => WITHIN.some((pattern) => isMatch(path, [...git, ...pattern])));
  return [
    { path: git, action: "held", absent: "folder", base: base.length },
    readonly(["hooks"], "folder"),
    // Made only where a repository is: a new one is born with its settings, and that is watched instead.
    readonly(["config"], isThere ? "file" : "leave"),
    readonly(["config.worktree"], "leave"),
    // An empty one would keep git from working at all, so it cannot be made, only watched.
    readonly(["commondir"], "leave"),
    ...below.map(({ path }) => readonly(path.slice(git.length), "leave")),
  ];
}

function isMatch(path: PlanPath, pattern: PlanPath): boolean {
  return path.length === pattern.length && pattern.every((name, at) => name === "*" || name === path[at]);
}
