// The paths of new commits and of the new index that need approval before a ref moves.

import type { DenialCode } from "../../../core/authority/decision.ts";
import { type GitResult, value } from "../../plan/drafts/git/git-refusal.ts";
import type { GitImportPlan } from "../../plan/drafts/git/import-plan.ts";
import type { IndexChange } from "../../plan/drafts/git/index-changes.ts";
import { parseTreeChanges, type TreeChange, type TreeChangeKind } from "../../plan/drafts/git/tree-changes.ts";
import { pathText } from "./byte-text.ts";
import type { NewObjects, ObjectImport } from "./objects.ts";

/** `denied`: no grant covers the change; an approval does not change that. */
export type PathClass = "free" | "ask" | "never" | { readonly denied: DenialCode };

/** Texts are UTF-8; bytes that are none are written `\xNN`. */
export interface PathChange {
  /** Relative to the worktree. */
  readonly path: string;
  readonly change: TreeChangeKind;
  /** Where a symbolic link leads; null for everything else. */
  readonly target: string | null;
}

/**
 * `together`: every path of the import, because names that are harmless alone can form a repository or a link together.
 */
export type Classify = (change: PathChange, together: readonly PathChange[]) => PathClass | Promise<PathClass>;

export interface WaitingPath extends PathChange {
  readonly class: "ask" | "never";
  /** The first commit found that has it; null for the index. */
  readonly commit: string | null;
}

export interface DeniedPath {
  readonly path: string;
  readonly code: DenialCode;
}

export interface WaitingPaths {
  /** The first path that no grant covers; null where every path is covered. */
  readonly denied: DeniedPath | null;
  /** At most `waitingPathsMax` of them. */
  readonly paths: readonly WaitingPath[];
  readonly count: number;
}

export const waitingPathsMax = 1_000;

/**
 * Checks all new commits, each against its parents (a merge where it differs from all of them), every branch from its
 * old tip to its new one, and the index. A new name for an existing commit adds no new tree.
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
  const all = [...changes.value, ...plan.index.map(stagedChange)];
  const links = all.filter(({ mode, change }) => mode === linkMode && change !== "deleted").map(({ id }) => id);
  const targets = await objects.blobs([...new Set(links)]);
  if (!targets.ok) return targets;
  const together = all.map(({ path, change, mode, id, commit }) => {
    const target = mode === linkMode && change !== "deleted" ? (targets.value.get(id) ?? null) : null;
    return { path: pathText(path), change, target: target === null ? null : pathText(target), commit };
  });
  const found = new Map<string, WaitingPath>();
  let denied: DeniedPath | null = null;
  for (const one of together) {
    const key = `${one.path}\0${one.target ?? ""}`;
    const verdict = found.has(key) ? "free" : await classify(one, together);
    if (typeof verdict === "object") denied ??= { path: one.path, code: verdict.denied };
    else if (verdict !== "free") found.set(key, { ...one, class: verdict });
  }
  return value({ denied, paths: [...found.values()].slice(0, waitingPathsMax), count: found.size });
}

const linkMode = 0o120000;

function stagedChange({ path, before, after }: IndexChange): Omit<TreeChange, "commit"> & { readonly commit: null } {
  const change = before.length === 0 ? "added" : after.length === 0 ? "deleted" : "changed";
  const link = after.find(({ mode }) => mode === linkMode) ?? after[0];
  return { path, change, mode: link?.mode ?? 0, id: link?.id ?? "", commit: null };
}
