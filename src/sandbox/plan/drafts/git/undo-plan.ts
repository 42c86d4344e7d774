// Plans how the git part of a landing is taken back: refs, HEAD and index entries return to their recorded values where
// they still have the values that landed. Anything else is the person's later work, and a conflict.
import { type GitResult, printable, refuseGit, value } from "./git-refusal.ts";
import { type GitImportPlan, isSameValue, type RefUpdate, type RepositoryState, realValue } from "./import-plan.ts";
import { entriesByPath, type IndexChange, isSameEntries } from "./index-changes.ts";
import type { RefValue } from "./ref-file.ts";

/** What a landing changed in one repository. */
export interface RecordedChange {
  readonly refs: readonly Pick<RefUpdate, "name" | "oldId" | "newId">[];
  readonly head: { readonly before: RefValue; readonly after: RefValue };
  readonly index: readonly IndexChange[];
  /** Stashes that were pushed. They stay: git's list of them has no compare-and-set. */
  readonly stashes: number;
}

/** A part that already has its old value is left out: a restarted undo continues where it was interrupted. */
export function planGitUndo(real: RepositoryState, change: RecordedChange): GitResult<GitImportPlan> {
  const refs: RefUpdate[] = [];
  for (const { name, oldId, newId } of change.refs) {
    const now = realValue(real, name);
    const id = now?.kind === "id" ? now.id : null;
    if (now?.kind === "symbolic" || (id !== newId && id !== oldId))
      return refuseGit("conflict", `${name} was moved since`);
    if (id === oldId) continue;
    if (real.otherBranches.has(name)) return refuseGit("unsupported", `${name} is checked out in a linked worktree`);
    refs.push({ name, oldId: newId, newId: oldId, needsFastForward: false });
  }
  const { before, after } = change.head;
  const head = real.head.value;
  const isHeadBack = isSameValue(head, before);
  if (!isHeadBack && !isSameValue(head, after)) return refuseGit("conflict", "HEAD was moved since");
  if (!isHeadBack && before.kind === "symbolic" && real.otherBranches.has(before.target))
    return refuseGit("unsupported", `${before.target} is checked out in a linked worktree`);
  const index = planIndex(real, change.index);
  if (!index.ok) return index;
  return value({
    ...{ format: real.format, refs, stash: null, index: index.value, indexCommit: null },
    ...{ notCarried: [], flagsNotCarried: [] },
    head: isHeadBack ? null : { from: head, to: before },
  });
}

function planIndex({ index }: RepositoryState, recorded: readonly IndexChange[]): GitResult<readonly IndexChange[]> {
  const now = entriesByPath(index.value);
  const changes: IndexChange[] = [];
  for (const { path, before, after } of recorded) {
    const entries = now.get(path) ?? [];
    if (isSameEntries(entries, before)) continue;
    if (!isSameEntries(entries, after))
      return refuseGit("conflict", `${printable(path)} was staged, committed or removed from the index since`);
    changes.push({ path, before: after, after: before });
  }
  return value(changes);
}
