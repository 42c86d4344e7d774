// The repository that a git folder of a draft belongs to, found again for each landing and each undo.
import { join } from "node:path";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { DraftRecord } from "./draft-records.ts";
import { repositoryOf } from "./git/inner-repositories.ts";
import { linkedGitOf } from "./git/linked-git.ts";
import { type ReadSeed, readLinkedSeed } from "./git/linked-seed.ts";
import type { GitRepository } from "./git/repository.ts";

export type DraftRepository =
  | {
      readonly ok: true;
      readonly repository: GitRepository;
      /** The initial state of the draft's private git folder; null where it has none. */
      readonly seed: ReadSeed | null;
    }
  | {
      readonly ok: false;
      readonly code: DenialCode;
      readonly reason: string;
      /** Below the root; null where it is not known. */
      readonly worktree: readonly string[] | null;
    };

/** `folder`: that of the draft. `family`: the repositories that change together with this one, itself included. */
export function draftRepository(
  { root }: DraftRecord,
  folder: string,
  gitPath: readonly string[],
  family: readonly { readonly repository: readonly string[] }[],
): DraftRepository {
  const found = repositoryOf(root, gitPath);
  if (!found.ok) return { ok: false, code: "not_landed", reason: found.refusal.message, worktree: null };
  const seed = readLinkedSeed(folder);
  const moved = seed === null ? null : movedReason(root, seed);
  if (moved !== null) return { ok: false, code: "draft_conflict", reason: moved, worktree: found.value.worktreePath };
  const repository = {
    ...found.value,
    ...(seed === null ? {} : { folders: { folder: seed.folder, common: seed.common } }),
    together: family.map((one) => join(root, ...one.repository)),
  };
  return { ok: true, repository, seed };
}

/** Why the private git folder of a draft no longer matches its root; null where it does. */
function movedReason(root: string, { folder, common }: ReadSeed): string | null {
  const linked = linkedGitOf(root);
  if (!linked.ok) return linked.refusal.message;
  return linked.value?.folder === folder && linked.value.common === common
    ? null
    : "the `.git` file of the project names a different git folder than when the program started";
}
