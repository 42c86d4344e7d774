// The repositories of one landing: what of each landed, what is kept, and why.
import type { KeptChange } from "../../ports/drafts.ts";
import type { Change } from "../../sandbox/draft/change.ts";
import type { GitLanding } from "./git-landing.ts";

export interface GitGroup {
  readonly repository: readonly string[];
  readonly changes: readonly Change[];
  readonly git: GitLanding;
}

interface GitOutcome {
  readonly committed: readonly GitGroup[];
  /** Why the others were not; null where all of them were. */
  readonly gitReason: string | null;
}

export async function abortAll(groups: readonly GitGroup[]): Promise<void> {
  for (const { git } of groups) if (git.ok) await git.abort().catch(() => undefined);
}

export function landedGit(group: GitGroup, { committed }: GitOutcome): readonly string[] {
  return committed.includes(group) && group.git.ok && group.git.isChange ? [group.repository.join("/")] : [];
}

export function gitKept(group: GitGroup, { committed, gitReason }: GitOutcome): readonly KeptChange[] {
  const { repository, git } = group;
  const base = { path: repository.join("/"), kind: "git" } as const;
  if (!git.ok) return [{ ...base, code: git.code, reason: git.reason }];
  if (git.isChange && !committed.includes(group))
    return [{ ...base, code: "not_landed", reason: gitReason ?? "its files did not land" }];
  return git.notCarried.map((name) => ({
    ...{ path: [...repository, name].join("/"), kind: "git", code: "self_modification" },
    reason: "git configuration, hooks and private state never land",
  }));
}

/** What was not committed waits whole; of what was, the files that are never carried over can still be looked at. */
export function waitingGit(group: GitGroup, { committed }: GitOutcome): readonly Change[] {
  const { repository, changes, git } = group;
  if (!git.ok || !committed.includes(group)) return changes;
  const names = new Set(git.notCarried);
  return changes.filter(({ path }) => names.has(path.slice(repository.length).join("/")));
}
