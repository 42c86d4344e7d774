// A plan for a root whose `.git` is a file: its git folder lies outside the root. A read-only root shows that folder
// read-only. A draft and a live root get a private git folder instead, and see only the objects of the person's.
import { pathText } from "../../core/authority/axes/path.ts";
import type { LinkedGitFolders, Plan, PlanPath, RootMode } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { isWithin } from "./plan-path.ts";
import { runtimeFault } from "./root-rules.ts";

interface PlannedRun {
  readonly ok: true;
  readonly plan: Plan;
  readonly notes: readonly string[];
}

/** INVARIANT: the caller has checked that the git folder names the root as its worktree. */
export function withLinkedGit(
  planned: PlannedRun,
  linked: LinkedGitFolders,
  facts: Pick<PlanFacts, "home" | "ours" | "protectedPaths">,
): PlannedRun {
  const { plan, notes } = planned;
  const { root } = plan;
  if (root === null || isWithin(linked.common, root.path)) return planned;
  const shown: PlanPath = isPrivate(root.mode) ? [...linked.common, "objects"] : linked.common;
  const fault = isWithin(root.path, shown) ? "is around the root" : runtimeFault(shown, facts);
  if (fault !== null)
    return { ...planned, notes: [...notes, `git does not work in here: its folder ${pathText(shown)} ${fault}`] };
  return { ...planned, plan: { ...plan, runtime: [...plan.runtime, shown], linkedGit: linked } };
}

function isPrivate(mode: RootMode): boolean {
  return mode === "draft" || mode === "live";
}
