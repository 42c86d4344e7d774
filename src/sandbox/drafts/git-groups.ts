// The git part of a landing: one group of changes for each repository; nested repositories form one group.
import { join } from "node:path";
import type { UnlandedChange } from "../../core/ports/drafts.ts";
import type { Change } from "../plan/drafts/change.ts";
import { STASH } from "../plan/drafts/git/ref-name.ts";
import type { GitChanges } from "../plan/drafts/landing.ts";
import { kindAt } from "./git/git-files.ts";
import type { GitLanding } from "./git-landing.ts";

export interface GitGroup {
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  readonly family: readonly GitChanges[];
  readonly git: GitLanding;
}

/** The result of the groups of one landing. */
export interface CommittedGit {
  readonly committed: readonly GitGroup[];
  /** Why the others were not committed; null where all were. */
  readonly gitReason: string | null;
}

/** Nested repositories land together or not at all. */
export async function togetherOrNone(groups: readonly GitGroup[]): Promise<readonly GitGroup[]> {
  const result: GitGroup[] = [];
  for (const group of groups) {
    const { git } = groups.find((one) => one.family === group.family && !one.git.ok) ?? group;
    if (git.ok || !group.git.ok) {
      result.push(group);
      continue;
    }
    await group.git.abort();
    const { code, reason, holds } = git;
    result.push({
      ...group,
      git: { ok: false, code, reason: `it must land together with another repository: ${reason}`, holds },
    });
  }
  return result;
}

/** A new repository lands only into a folder that exists, or that lands with it. */
export async function withoutFolderless(
  root: string,
  groups: readonly GitGroup[],
  land: readonly Change[],
): Promise<readonly GitGroup[]> {
  const made = new Set(land.filter(({ kind }) => kind === "folder").map(({ path }) => path.join("/")));
  const result: GitGroup[] = [];
  for (const group of groups) {
    const folder = group.repository.slice(0, -1);
    const isNew = group.git.ok && group.git.change?.change === null;
    if (!group.git.ok || !isNew || made.has(folder.join("/")) || kindAt(join(root, ...folder))?.kind === "folder") {
      result.push(group);
      continue;
    }
    await group.git.abort();
    const reason = "its parent folder did not land";
    result.push({ ...group, git: { ok: false, code: "not_landed", reason, holds: () => false } });
  }
  return result;
}

export async function abortAll(groups: readonly GitGroup[]): Promise<void> {
  for (const { git } of groups) if (git.ok) await git.abort().catch(() => undefined);
}

export function landedGit(group: GitGroup, { committed }: CommittedGit): readonly string[] {
  return committed.includes(group) && group.git.ok && group.git.change !== null ? [group.repository.join("/")] : [];
}

export function unlandedGitChanges(group: GitGroup, { committed, gitReason }: CommittedGit): readonly UnlandedChange[] {
  const { repository, git } = group;
  // A root that is a git folder itself.
  const base = { path: repository.join("/") || ".", kind: "git" } as const;
  if (!git.ok) return [{ ...base, code: git.code, reason: git.reason }];
  if (git.change !== null && !committed.includes(group))
    return [{ ...base, code: "not_landed", reason: gitReason ?? "its files did not land" }];
  return git.notCarried.map((name) => ({
    ...{ path: [...repository, name].join("/"), kind: "git", code: "self_modification" },
    reason: notCarriedReason(name),
  }));
}

function notCarriedReason(name: string): string {
  if (name === STASH) return "a dropped stash stays in your repository; `git stash drop` removes it";
  if (name.startsWith("worktrees/")) return "a worktree made inside stays there; its branch and its files land";
  return "git configuration, hooks and private state never land";
}

/**
 * A group that was not committed waits as a whole; of a committed one, the files that are never carried over can still
 * be reviewed.
 */
export function waitingGit(group: GitGroup, { committed }: CommittedGit): readonly Change[] {
  const { repository, changes, git } = group;
  if (!git.ok || !committed.includes(group)) return changes;
  const names = new Set(git.notCarried);
  return changes.filter(({ path }) => names.has(path.slice(repository.length).join("/")));
}
