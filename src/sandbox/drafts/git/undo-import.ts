// Takes the git part of a landing back: refs by compare-and-set with the recorded values, HEAD and index under their
// locks. Objects stay in the repository.

import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitRefusal, type GitResult, refuseGit } from "../../plan/drafts/git/git-refusal.ts";
import { planGitUndo, type RecordedChange } from "../../plan/drafts/git/undo-plan.ts";
import type { Sandboxes } from "../../plan/sandboxes.ts";
import { borrowedObjects, readShallow } from "./borrowed-history.ts";
import { ConfinedGit } from "./confined-git.ts";
import { isEmptyPlan } from "./import.ts";
import { type LockOptions, lockRepository } from "./lock-repository.ts";
import { knownIds, ObjectImport, requiredIds } from "./objects.ts";
import type { PreparedGitImport } from "./prepared-import.ts";
import { type GitRepository, gitFoldersOf, readFormat, readMarks, readRepository } from "./repository.ts";
import { Workbench } from "./workbench.ts";

export interface GitUndoRequest extends LockOptions {
  readonly repository: GitRepository;
  readonly change: RecordedChange;
  /** A folder of our state for private files. */
  readonly workFolder: string;
  readonly sandboxes: Sandboxes;
}

export type GitUndoOutcome =
  /** Everything has its old value already. */
  | { readonly kind: "nothing" }
  | { readonly kind: "stays"; readonly refusal: GitRefusal }
  | { readonly kind: "prepared"; readonly prepared: PreparedGitImport };

/** Later than every file time: the recorded values decide, not times. */
const always = 2n ** 62n;

export async function prepareGitUndo(request: GitUndoRequest): Promise<GitUndoOutcome> {
  try {
    return await prepare(request);
  } catch (error) {
    return stays(refuseGit("unavailable", `the repository cannot be read (${errorCode(error)})`));
  }
}

async function prepare(request: GitUndoRequest): Promise<GitUndoOutcome> {
  const { repository, change, workFolder, sandboxes } = request;
  const folders = gitFoldersOf(repository);
  const format = readFormat(folders);
  if (!format.ok) return stays(format);
  const marks = readMarks(folders);
  const start = { startedNanoseconds: always };
  const real = readRepository(folders, format.value, repository.together ?? [], start);
  if (!real.ok) return stays(real);
  const planned = planGitUndo(real.value, change);
  if (!planned.ok) return stays(planned);
  const plan = planned.value;
  if (isEmptyPlan(plan)) return { kind: "nothing" };
  if (format.value.obstacle !== null) return { kind: "stays", refusal: format.value.obstacle };
  const shallow = readShallow(folders.common, plan.format);
  if (!shallow.ok) return stays(shallow);
  const borrowed = borrowedObjects(folders.common);
  if (!borrowed.ok) return stays(borrowed);
  const opened = Workbench.open({
    ...{ parent: workFolder, format: plan.format, common: folders.common },
    ...{ shallow: shallow.value, borrowed: borrowed.value },
    worktree: join(repository.root, ...repository.worktreePath),
  });
  if (!opened.ok) return stays(opened);
  const bench = opened.value;
  const git = new ConfinedGit(sandboxes, null);
  let isPrepared = false;
  try {
    // A garbage collection since may have removed what only the index or a deleted ref had.
    const objects = await new ObjectImport(git, bench, plan.format).take(
      requiredIds(plan),
      knownIds(plan, real.value),
      false,
    );
    if (!objects.ok)
      return stays(refuseGit("bad_objects", `git no longer has the earlier objects: ${objects.refusal.message}`));
    const locked = await lockRepository(request, {
      ...{ folders, real: real.value, plan, bench, git, marks },
      objects: { commits: [], count: 0, pack: null },
      checksEnded: Promise.resolve(),
      message: "ambit: undo the changes of an agent",
    });
    if (!locked.ok) return stays(locked);
    isPrepared = true;
    return { kind: "prepared", prepared: locked.value };
  } finally {
    if (!isPrepared) {
      await git.end();
      bench.remove();
    }
  }
}

function stays({ refusal }: Extract<GitResult<never>, { readonly ok: false }>): GitUndoOutcome {
  return { kind: "stays", refusal };
}
