// Imports git changes semantically from a sealed draft into a person's repository. New objects are packed and checked
// in sandboxes, refs move by a transaction with old values, the index is edited under its lock. No file of the draft is
// copied into the repository, and no git runs outside a sandbox.

import { join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import type { Change } from "../../plan/drafts/change.ts";
import { type GitRefusal, type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { type GitImportPlan, planGitImport, type RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import type { Sandboxes } from "../../plan/sandboxes.ts";
import { borrowedObjects, readShallow } from "./borrowed-history.ts";
import { ConfinedGit } from "./confined-git.ts";
import { draftSinceSeed, seenSinceSeed } from "./linked-draft.ts";
import type { ReadSeed } from "./linked-seed.ts";
import { type LockOptions, lockRepository } from "./lock-repository.ts";
import { knownIds, ObjectImport, requiredIds } from "./objects.ts";
import type { PreparedGitImport } from "./prepared-import.ts";
import { readGitDraft } from "./read-draft.ts";
import {
  type GitFolders,
  type GitRepository,
  gitFoldersOf,
  type RepositoryMarks,
  readFormat,
  readMarks,
  readRepository,
  type StartState,
} from "./repository.ts";
import { type Classify, type DeniedPath, type WaitingPath, waitingPaths } from "./waiting-paths.ts";
import { Workbench } from "./workbench.ts";

export interface GitImportRequest extends StartState, LockOptions {
  readonly repository: GitRepository;
  /** The initial state of the draft's private git folder; null or absent: it is the person's own, overlaid. */
  readonly seed?: ReadSeed | null;
  /** All changes of the draft, or those below the git folder. */
  readonly changes: readonly Change[];
  /** The folder with the changed files of the draft, sealed: no process can write to it any more. */
  readonly upper: string;
  /** A folder of our state for private files of the import. */
  readonly workFolder: string;
  readonly sandboxes: Sandboxes;
  readonly classify: Classify;
  /** A person has approved the waiting paths. */
  readonly isApproved: boolean;
  readonly signal?: AbortSignal | null;
}

export type GitImportOutcome =
  /** The draft changes nothing that an import carries over. */
  | { readonly kind: "nothing"; readonly notCarried: readonly string[] }
  /** Nothing of the git part lands; it stays a draft for this reason. */
  | { readonly kind: "stays"; readonly refusal: GitRefusal }
  /** No grant covers a path that it changes. */
  | ({ readonly kind: "denied" } & DeniedPath)
  | {
      readonly kind: "waits";
      readonly plan: GitImportPlan;
      readonly paths: readonly WaitingPath[];
      /** The total; `paths` may contain fewer. */
      readonly count: number;
      /** Refs that would be deleted, with commits or tags that no other ref has. */
      readonly lost: readonly string[];
    }
  | { readonly kind: "prepared"; readonly prepared: PreparedGitImport };

export async function prepareGitImport(request: GitImportRequest): Promise<GitImportOutcome> {
  const { repository, upper } = request;
  const folders = gitFoldersOf(repository);
  const read = readStates(request, folders);
  if (!read.ok) return { kind: "stays", refusal: read.refusal };
  const { real, draft, plan, marks, shallow, borrowed, isPartial } = read.value;
  if (isEmptyPlan(plan)) return { kind: "nothing", notCarried: plan.notCarried };
  const worktree = join(repository.root, ...repository.worktreePath);
  const parent = request.workFolder;
  const { common } = folders;
  const opened = Workbench.open({ parent, format: plan.format, common, worktree, shallow, borrowed });
  if (!opened.ok) return { kind: "stays", refusal: opened.refusal };
  const bench = opened.value;
  const git = new ConfinedGit(request.sandboxes, request.signal ?? null);
  // Cancellation is honored up to the locks; a prepared import is committed or aborted as a whole.
  const writer = new ConfinedGit(request.sandboxes, null);
  let outcome: GitImportOutcome | null = null;
  try {
    const draftObjects = join(upper, ...(repository.commonPath ?? repository.gitPath), "objects");
    const linked = await bench.addDraftObjects(draftObjects, draft.objects);
    if (!linked.ok) return { kind: "stays", refusal: linked.refusal };
    const importing = new ObjectImport(git, bench, plan.format);
    const objects = await importing.take(requiredIds(plan), knownIds(plan, real), draft.objects.length > 0);
    if (!objects.ok) return { kind: "stays", refusal: isPartial ? missingIn(objects.refusal) : objects.refusal };
    const sound = await checkTips(plan, real, importing);
    if (!sound.ok) return { kind: "stays", refusal: sound.refusal };
    const waiting = await waitingPaths(plan, real, objects.value, importing, request.classify);
    if (!waiting.ok) return { kind: "stays", refusal: waiting.refusal };
    const lost = await lostRefs(plan, real, importing, bench.hasLogs);
    if (!lost.ok) return { kind: "stays", refusal: lost.refusal };
    const { denied, ...paths } = waiting.value;
    if (denied !== null) return { kind: "denied", ...denied };
    if ((paths.count > 0 || lost.value.length > 0) && !request.isApproved)
      return { kind: "waits", plan, ...paths, lost: lost.value };
    const checksEnded = git.end();
    const locked = await lockRepository(request, {
      folders,
      real,
      plan,
      bench,
      git: writer,
      objects: objects.value,
      marks,
      checksEnded,
      message: "ambit: land the changes of an agent",
    });
    outcome = locked.ok ? { kind: "prepared", prepared: locked.value } : { kind: "stays", refusal: locked.refusal };
    return outcome;
  } finally {
    if (outcome?.kind !== "prepared") {
      await Promise.all([git.end(), writer.end()]);
      bench.remove();
    }
  }
}

interface States {
  readonly real: RepositoryState;
  readonly draft: Parameters<typeof planGitImport>[1];
  readonly plan: GitImportPlan;
  readonly marks: RepositoryMarks;
  readonly shallow: string | null;
  readonly borrowed: readonly string[];
  readonly isPartial: boolean;
}

function readStates(request: GitImportRequest, folders: GitFolders): GitResult<States> {
  const { seed = null } = request;
  try {
    const format = readFormat(folders);
    if (!format.ok) return format;
    const changed = readGitDraft(request.repository, request.changes, request.upper, format.value.format);
    if (!changed.ok) return changed;
    const marks = readMarks(folders);
    const now = readRepository(folders, format.value, request.repository.together ?? [], request);
    if (!now.ok) return now;
    const real = seed === null ? now : seenSinceSeed(now.value, seed, marks);
    if (!real.ok) return real;
    const own = seed === null ? changed : draftSinceSeed(changed.value, real.value, seed);
    if (!own.ok) return own;
    const draft = withCommonObjects(own.value, request, format.value.format);
    if (!draft.ok) return draft;
    const plan = planGitImport(real.value, draft.value);
    const { obstacle, isPartial } = format.value;
    if (obstacle !== null && !(plan.ok && isEmptyPlan(plan.value))) return { ok: false, refusal: obstacle };
    if (!plan.ok) return plan;
    if (isEmptyPlan(plan.value))
      return value({
        real: real.value,
        draft: draft.value,
        plan: plan.value,
        marks,
        shallow: null,
        borrowed: [],
        isPartial,
      });
    const shallow = readShallow(folders.common, format.value.format);
    if (!shallow.ok) return shallow;
    const borrowed = borrowedObjects(folders.common);
    if (!borrowed.ok) return borrowed;
    const history = { shallow: shallow.value, borrowed: borrowed.value, isPartial };
    return value({ real: real.value, draft: draft.value, plan: plan.value, marks, ...history });
  } catch (error) {
    return refuseGit("unavailable", `the repository cannot be read (${errorCode(error)})`);
  }
}

/** A linked worktree has its own HEAD and index; the objects they name are in the repository. */
function withCommonObjects(
  draft: States["draft"],
  { repository, changes, upper }: GitImportRequest,
  format: GitImportPlan["format"],
): GitResult<States["draft"]> {
  const { commonPath } = repository;
  if (commonPath === undefined || commonPath.join("/") === repository.gitPath.join("/")) return value(draft);
  const objects = [...commonPath, "objects"];
  const shared = changes.filter(({ path }) => objects.every((name, at) => path[at] === name));
  const common = readGitDraft({ ...repository, gitPath: commonPath }, shared, upper, format);
  return common.ok ? value({ ...draft, objects: common.value.objects }) : common;
}

/** A partial clone lacks objects that git would fetch; an import fetches nothing. */
function missingIn({ code, message }: GitRefusal): GitRefusal {
  return { code, message: `${message}; the repository is a partial clone, and an import fetches no objects` };
}

export function isEmptyPlan({ refs, stash, head, index }: GitImportPlan): boolean {
  return refs.length === 0 && stash === null && head === null && index.length === 0;
}

/**
 * Checks that need objects: a detached HEAD is a commit, refs that may have moved only fast-forward, and nothing is staged in an
 * index that the program did not see.
 */
async function checkTips(
  { refs, head, indexCommit }: GitImportPlan,
  real: RepositoryState,
  objects: ObjectImport,
): Promise<GitResult<null>> {
  if (head?.to.kind === "id") {
    const isCommit = await objects.isCommit(head.to.id);
    if (!isCommit.ok) return isCommit;
    if (!isCommit.value) return refuseGit("malformed", "HEAD of the draft is not a commit");
  }
  // The trees of commits are checked path by path; a tree that a tag names has no commit to check it by.
  const tags = refs.flatMap(({ name, newId }) => (newId === null || !name.startsWith("refs/tags/") ? [] : [newId]));
  const named = await objects.peeledTypes(tags);
  if (!named.ok) return named;
  if (named.value.some((type) => type !== "commit"))
    return refuseGit("unsupported", "a tag of the draft does not point to a commit");
  for (const { name, oldId, newId, needsFastForward } of refs) {
    if (!needsFastForward || oldId === null || newId === null) continue;
    const forward = await objects.isFastForward(oldId, newId);
    if (!forward.ok) return forward;
    if (!forward.value) return refuseGit("conflict", `${name} changed in the repository while the program ran`);
  }
  if (indexCommit === null) return value(null);
  const isClean = await objects.isIndexOf(indexCommit, real.index.value);
  if (!isClean.ok) return isClean;
  if (!isClean.value) return refuseGit("conflict", "the index of the repository changed while the program ran");
  return value(null);
}

/**
 * Refs that the import deletes although only they reach some commits, and tags that it deletes or moves: no log has
 * their old value. A moved branch has one, where the repository keeps logs.
 */
async function lostRefs(
  { refs }: GitImportPlan,
  real: RepositoryState,
  objects: ObjectImport,
  hasLogs: boolean,
): Promise<GitResult<readonly string[]>> {
  const replaced = refs.filter(({ oldId }) => oldId !== null);
  const isTag = (name: string): boolean => name.startsWith("refs/tags/");
  const lost = replaced.filter(({ name }) => isTag(name)).map(({ name }) => name);
  const unlogged = replaced.filter(({ name, newId }) => !isTag(name) && (newId === null || !hasLogs));
  if (unlogged.length === 0) return value(lost);
  const left = tipsAfter(refs, real);
  for (const { name, oldId } of unlogged) {
    const reached = await objects.isReached(oldId as string, left);
    if (!reached.ok) return reached;
    if (!reached.value) lost.push(name);
  }
  return value(lost);
}

/** The objects that the refs of the repository name after the import. */
function tipsAfter(refs: GitImportPlan["refs"], { head, looseRefs, packedRefs }: RepositoryState): readonly string[] {
  const tips = new Map(packedRefs.value);
  for (const [name, { value: ref }] of looseRefs) if (ref.kind === "id") tips.set(name, ref.id);
  for (const { name, newId } of refs)
    if (newId === null) tips.delete(name);
    else tips.set(name, newId);
  const detached = head.value.kind === "id" ? [head.value.id] : [];
  return [...new Set([...tips.values(), ...detached])];
}
