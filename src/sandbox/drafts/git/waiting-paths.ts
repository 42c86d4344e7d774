// The paths of new commits and of the new index that need approval before a ref moves.

import type { DenialCode } from "../../../core/authority/decision.ts";
import { type GitResult, value } from "../../plan/drafts/git/git-refusal.ts";
import { type GitImportPlan, type RepositoryState, realValue } from "../../plan/drafts/git/import-plan.ts";
import { entriesByPath, type IndexChange } from "../../plan/drafts/git/index-changes.ts";
import type { RefValue } from "../../plan/drafts/git/ref-file.ts";
import { parseTreeChanges, type TreeChange, type TreeChangeKind } from "../../plan/drafts/git/tree-changes.ts";
import { pathText } from "./byte-text.ts";
import type { Comparison, NewObjects, ObjectImport } from "./objects.ts";

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
  readonly change: TreeChangeKind;
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
 * Checks what a person's next checkout, merge, commit or `stash pop` would change: every new commit and every stash
 * against its first parent, every new merge against what git makes of its parents (otherwise it could take back what one
 * of them has), every branch from its old tip to its new one, HEAD from its old commit to its new one, and the
 * index. Another name for an existing commit changes nothing by itself.
 */
export async function waitingPaths(
  plan: GitImportPlan,
  real: RepositoryState,
  { commits }: NewObjects,
  objects: ObjectImport,
  classify: Classify,
): Promise<GitResult<WaitingPaths>> {
  const applied = [...new Set([...commits, ...(plan.stash?.pushes.map(({ id }) => id) ?? [])])];
  const parents = await objects.parents(applied);
  if (!parents.ok) return parents;
  const made = applied.flatMap((to) => comparisonsOf(to, parents.value));
  const moved = plan.refs.flatMap(({ name, oldId, newId }): Comparison[] =>
    /^refs\/(?:heads|remotes)\//.test(name) && oldId !== null && newId !== null ? [{ from: oldId, to: newId }] : [],
  );
  const changes = await changesOf([...made, ...moved], objects);
  if (!changes.ok) return changes;
  const merges = await objects.mergeDiff(commits.filter((id) => parents.value.get(id)?.length === 2));
  if (!merges.ok) return merges;
  const merged = parseTreeChanges(merges.value);
  if (!merged.ok) return merged;
  const head = await changesOf(headMove(plan, real), objects);
  if (!head.ok) return head;
  const all = [
    ...changes.value,
    ...merged.value,
    ...head.value,
    ...leftOut(head.value, plan, real),
    ...plan.index.map(stagedChange),
  ];
  const links = all.filter(({ mode, change }) => mode === linkMode && change !== "deleted").map(({ id }) => id);
  const targets = await objects.blobs([...new Set(links)]);
  if (!targets.ok) return targets;
  const together = all.map(({ path, change, mode, id, commit }) => {
    const target = mode === linkMode && change !== "deleted" ? (targets.value.get(id) ?? null) : null;
    return { path: pathText(path), change, target: target === null ? null : pathText(target), commit };
  });
  const found = new Map<string, WaitingPath>();
  const decided = new Set<string>();
  let denied: DeniedPath | null = null;
  for (const one of together) {
    const key = `${one.path}\0${one.target ?? ""}`;
    // A deletion needs another grant than a change of the same path.
    const question = `${one.change === "deleted"}\0${key}`;
    if (decided.has(question)) continue;
    decided.add(question);
    const verdict = await classify(one, together);
    if (typeof verdict === "object") denied ??= { path: one.path, change: one.change, code: verdict.denied };
    else if (verdict !== "free" && !found.has(key)) found.set(key, { ...one, class: verdict });
  }
  return value({ denied, paths: [...found.values()].slice(0, waitingPathsMax), count: found.size });
}

async function changesOf(
  comparisons: readonly Comparison[],
  objects: ObjectImport,
): Promise<GitResult<readonly TreeChange[]>> {
  const diff = await objects.diff(comparisons);
  return diff.ok ? parseTreeChanges(diff.value) : diff;
}

/**
 * Git itself makes no tree of more than two parents: such a merge is compared with all of them, except with new commits
 * without a parent, as the untracked files of a stash are.
 */
function comparisonsOf(to: string, parents: ReadonlyMap<string, readonly string[]>): readonly Comparison[] {
  const [first = null, ...others] = parents.get(to) ?? [];
  const compared = others.length < 2 ? [] : others.filter((id) => parents.get(id)?.length !== 0);
  return [first, ...compared].map((from) => ({ from, to }));
}

/** None where HEAD had no commit, or has none afterwards: files and index are what they were. */
function headMove({ refs, head }: GitImportPlan, real: RepositoryState): readonly Comparison[] {
  const moved = new Map(refs.map(({ name, newId }) => [name, newId]));
  const from = commitOf(head?.from ?? real.head.value, (name) => realValue(real, name));
  const to = commitOf(head?.to ?? real.head.value, (name) => {
    const newId = moved.get(name);
    return newId === undefined ? realValue(real, name) : newId === null ? null : { kind: "id", id: newId };
  });
  return from === null || to === null || from === to ? [] : [{ from, to }];
}

/** Git follows no more symbolic refs. */
const symbolicMax = 5;

function commitOf(head: RefValue, refAt: (name: string) => RefValue | null): string | null {
  let ref: RefValue | null = head;
  for (let links = 0; ref?.kind === "symbolic" && links < symbolicMax; links++) ref = refAt(ref.target);
  return ref?.kind === "id" ? ref.id : null;
}

/** Paths that HEAD has now and the index has not: the next commit would delete them. */
function leftOut(
  changes: readonly TreeChange[],
  { index }: GitImportPlan,
  real: RepositoryState,
): readonly TreeChange[] {
  const staged = new Set(entriesByPath(real.index.value).keys());
  for (const { path, after } of index)
    if (after.length === 0) staged.delete(path);
    else staged.add(path);
  return changes
    .filter(({ path, change }) => change === "added" && !staged.has(path))
    .map((change) => ({ ...change, change: "deleted", mode: 0 }));
}

const linkMode = 0o120000;

function stagedChange({ path, before, after }: IndexChange): Omit<TreeChange, "commit"> & { readonly commit: null } {
  const change = before.length === 0 ? "added" : after.length === 0 ? "deleted" : "changed";
  const link = after.find(({ mode }) => mode === linkMode) ?? after[0];
  return { path, change, mode: link?.mode ?? 0, id: link?.id ?? "", commit: null };
}
