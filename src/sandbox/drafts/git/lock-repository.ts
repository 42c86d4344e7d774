// Locks a person's repository for a planned change of refs, HEAD and index, with git's own lock files: what the locks
// protect is compared again, and the new index is written into its lock.

import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { GitImportPlan, RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import { indexInfo } from "../../plan/drafts/git/index-changes.ts";
import { emptyIndex } from "./byte-text.ts";
import { type ConfinedGit, inputOf } from "./confined-git.ts";
import { LockFile } from "./lock-file.ts";
import type { NewObjects } from "./objects.ts";
import { PreparedGitImport } from "./prepared-import.ts";
import { RefTransaction } from "./ref-transaction.ts";
import { type GitFolders, type RepositoryMarks, readMarks } from "./repository.ts";
import type { Workbench } from "./workbench.ts";

export interface LockOptions {
  /** How long to wait for the lock of another git. */
  readonly lockMilliseconds?: number;
  /** Called with every lock file before the first one is created, for a journal. */
  readonly onLocks?: (paths: readonly string[]) => void | Promise<void>;
  /** Called with lock files that were created. */
  readonly onLocked?: (paths: readonly string[]) => void;
}

const lockMillisecondsDefault = 2_000;

export interface LockParts {
  readonly folders: GitFolders;
  readonly real: RepositoryState;
  readonly plan: GitImportPlan;
  readonly bench: Workbench;
  readonly git: ConfinedGit;
  readonly objects: NewObjects;
  readonly marks: RepositoryMarks;
  /** The sandboxes of the checks end while the locks are taken. */
  readonly checksEnded: Promise<void>;
  /** For the logs of refs and HEAD. */
  readonly message: string;
}

/** Takes every lock, compares again what the locks protect, and writes the new index into its lock. */
export async function lockRepository(request: LockOptions, parts: LockParts): Promise<GitResult<PreparedGitImport>> {
  const { folders, plan, bench, git } = parts;
  const { folder, common } = folders;
  const wait = request.lockMilliseconds ?? lockMillisecondsDefault;
  const locks: LockFile[] = [];
  const take = async (name: string): Promise<GitResult<LockFile>> => {
    const taken = await LockFile.take(join(folder, name), wait);
    if (taken.ok) {
      locks.push(taken.value);
      request.onLocked?.([taken.value.path]);
    }
    return taken;
  };
  let isPrepared = false;
  try {
    await request.onLocks?.(lockPaths(folders, plan));
    const index = plan.index.length === 0 ? value(null) : await take("index");
    if (!index.ok) return index;
    const head = plan.head === null ? value(null) : await take("HEAD");
    if (!head.ok) return head;
    const same = isUnchanged(parts);
    if (!same.ok) return same;
    const writing = bench.writing(join(folder, "index.lock"), wait);
    if (index.value !== null) {
      const copied = index.value.copyTarget(emptyIndex(plan.format));
      if (!copied.ok) return copied;
      const words = ["update-index", "-z", "--index-info"];
      const built = await git.run(writing, { words, input: inputOf(indexInfo(plan.index, plan.format)) });
      if (!built.ok) return built;
      if (built.value.status !== 0)
        return refuseGit("malformed", `git could not build the index: ${built.value.errors}`);
    }
    if (head.value !== null && plan.head !== null) {
      const { to } = plan.head;
      head.value.write(to.kind === "id" ? `${to.id}\n` : `ref: ${to.target}\n`);
    }
    const refs =
      plan.refs.length === 0
        ? value(null)
        : await RefTransaction.prepare({
            git,
            plan: writing,
            gitFolder: common,
            updates: plan.refs,
            message: parts.message,
          });
    if (!refs.ok) return refs;
    if (refs.value !== null) request.onLocked?.(plan.refs.map(({ name }) => join(common, `${name}.lock`)));
    isPrepared = true;
    return value(new PreparedGitImport({ ...parts, writing, head: head.value, index: index.value, refs: refs.value }));
  } catch (error) {
    return refuseGit("unavailable", `the repository cannot be locked (${errorCode(error)})`);
  } finally {
    if (!isPrepared) for (const each of locks) each.release();
  }
}

function lockPaths({ folder, common }: GitFolders, { refs, head, index }: GitImportPlan): readonly string[] {
  const own = [...(index.length === 0 ? [] : ["index", "index.lock"]), ...(head === null ? [] : ["HEAD"])];
  const shared = [
    ...refs.map(({ name }) => name),
    ...(refs.some(({ newId }) => newId === null) ? ["packed-refs"] : []),
  ];
  return [...own.map((name) => join(folder, `${name}.lock`)), ...shared.map((name) => join(common, `${name}.lock`))];
}

/** The person's git may have written HEAD or the index between the first read and the lock. */
function isUnchanged({ folders, marks }: LockParts): GitResult<null> {
  const now = readMarks(folders);
  if (now.head !== marks.head) return refuseGit("conflict", "HEAD of the repository changed during the import");
  if (now.index !== marks.index) return refuseGit("conflict", "the index of the repository changed during the import");
  return value(null);
}
