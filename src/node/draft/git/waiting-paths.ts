// The paths of new commits and of the new index that a person has to agree to before a ref moves.
import type { GitImportPlan } from "../../../sandbox/draft/git/import-plan.ts";
import { type GitResult, value } from "../../../sandbox/draft/git/stay.ts";
import { parseTreeChanges, type TreeChangeKind } from "../../../sandbox/draft/git/tree-changes.ts";
import { pathText } from "./byte-text.ts";
import type { NewObjects, ObjectImport } from "./objects.ts";

export type PathClass = "free" | "ask" | "never";

/** `path`: relative to the worktree, UTF-8; bytes that are none are written `\xNN`. */
export type Classify = (path: string, change: TreeChangeKind) => PathClass;

export interface WaitingPath {
  readonly path: string;
  readonly change: TreeChangeKind;
  readonly class: "ask" | "never";
  /** The first commit found that has it; null for the index. */
  readonly commit: string | null;
}

export interface WaitingPaths {
  /** At most `waitingPathsMax` of them. */
  readonly paths: readonly WaitingPath[];
  readonly count: number;
}

export const waitingPathsMax = 1_000;

/**
 * All new commits are looked at, each against its parents (a merge where it differs from all of them), every branch from its
 * old tip to its new one, and the index. A name for a commit that the repository has already brings no new tree.
 */
export async function waitingPaths(
  plan: GitImportPlan,
  { commits }: NewObjects,
  objects: ObjectImport,
  classify: Classify,
): Promise<GitResult<WaitingPaths>> {
  const pairs = plan.refs.flatMap(({ name, oldId, newId }): (readonly [string, string])[] =>
    name.startsWith("refs/heads/") && oldId !== null && newId !== null ? [[newId, oldId]] : [],
  );
  const diff = await objects.diff(commits, pairs);
  if (!diff.ok) return diff;
  const changes = parseTreeChanges(diff.value);
  if (!changes.ok) return changes;
  const found = new Map<string, WaitingPath>();
  const consider = (bytes: string, change: TreeChangeKind, commit: string | null): void => {
    const path = pathText(bytes);
    if (found.has(path)) return;
    const verdict = classify(path, change);
    if (verdict !== "free") found.set(path, { path, change, class: verdict, commit });
  };
  for (const { path, change, commit } of changes.value) consider(path, change, commit);
  for (const { path, before, after } of plan.index)
    consider(path, before.length === 0 ? "added" : after.length === 0 ? "deleted" : "changed", null);
  return value({ paths: [...found.values()].slice(0, waitingPathsMax), count: found.size });
}
