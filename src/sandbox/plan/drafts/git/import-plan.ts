// Plans an import into a person's repository from two states of it: the current one and the draft's. Old values are the
// current ones. Where the repository may have changed after the program started, only additions and fast-forwards
// proceed; everything else is a conflict.

import { type GitResult, printable, refuseGit, value } from "./git-refusal.ts";
import { type IndexChange, indexChanges } from "./index-changes.ts";
import type { GitIndex, IndexFlag } from "./index-file.ts";
import type { ObjectFormat } from "./object-id.ts";
import type { RefValue } from "./ref-file.ts";
import { checkRefName, isBranchName, STASH } from "./ref-name.ts";
import { type StashPush, stashPushes } from "./stash-log.ts";

/** The state of one file. `isSeen`: unchanged since the program started, so the program saw this state. */
export interface FileState<Value> {
  readonly value: Value;
  readonly isSeen: boolean;
}

/** The person's repository as it is now. */
export interface RepositoryState {
  readonly format: ObjectFormat;
  readonly head: FileState<RefValue>;
  readonly looseRefs: ReadonlyMap<string, FileState<RefValue>>;
  /** Folders below `refs` by name ("refs/heads"): whether their names are those the program saw. */
  readonly refFolders: ReadonlyMap<string, boolean>;
  readonly packedRefs: FileState<ReadonlyMap<string, string>>;
  readonly index: FileState<GitIndex | null>;
  /** A byte string; empty where there is no log. */
  readonly stashLog: string;
  /** Branches that other worktrees have checked out: moving one would make that worktree's files look changed. */
  readonly otherBranches: ReadonlySet<string>;
}

/** The draft's values. Null: unchanged. */
export interface GitDraft {
  readonly head: RefValue | null;
  /** Null: the loose file is deleted. `hadBase`: the repository had a file there when the draft was scanned. */
  readonly looseRefs: ReadonlyMap<string, { readonly value: RefValue | null; readonly hadBase: boolean }>;
  readonly packedRefs: ReadonlyMap<string, string> | null;
  readonly index: GitIndex | null;
  readonly stashLog: string | null;
  readonly objects: readonly DraftObjectFile[];
  /** Changed in the draft and never carried over. Relative to the git folder. */
  readonly notCarried: readonly string[];
}

export interface DraftObjectFile {
  /** Below `objects`: two names. */
  readonly folder: string;
  readonly file: string;
  readonly bytes: number;
}

export interface RefUpdate {
  readonly name: string;
  /** Null: the ref does not exist. */
  readonly oldId: string | null;
  readonly newId: string | null;
  /** The ref may have moved after the program started: only a fast-forward preserves its commits. */
  readonly needsFastForward: boolean;
}

export interface GitImportPlan {
  readonly format: ObjectFormat;
  readonly refs: readonly RefUpdate[];
  readonly stash: { readonly oldId: string | null; readonly pushes: readonly StashPush[] } | null;
  readonly head: { readonly from: RefValue; readonly to: RefValue } | null;
  readonly index: readonly IndexChange[];
  /**
   * The index changed after the program started: it is replaced only where it has nothing but this commit, which the new HEAD has
   * in its history. Null: it is what the program saw.
   */
  readonly indexCommit: string | null;
  readonly notCarried: readonly string[];
  /** Index entries whose flags are not carried over. */
  readonly flagsNotCarried: readonly { readonly path: string; readonly flag: IndexFlag }[];
}

const refUpdatesMax = 1_000;

export function planGitImport(real: RepositoryState, draft: GitDraft): GitResult<GitImportPlan> {
  const notCarried = [...draft.notCarried];
  const refs = planRefs(real, draft, notCarried);
  if (!refs.ok) return refs;
  const head = planHead(real, draft);
  if (!head.ok) return head;
  const index = draft.index === null ? [] : indexChanges(real.index.value, draft.index);
  const indexCommit = index.length === 0 || real.index.isSeen ? null : forwardedCommit(real, head.value, refs.value);
  if (index.length > 0 && !real.index.isSeen && indexCommit === null)
    return refuseGit("conflict", "the index of the repository changed while the program ran");
  if ((index.length > 0 || head.value !== null) && !real.head.isSeen && !isAlready(real, draft))
    return refuseGit("conflict", "HEAD of the repository changed while the program ran");
  return value({
    format: real.format,
    ...refs.value,
    head: head.value,
    index,
    indexCommit,
    notCarried,
    flagsNotCarried: newFlags(real.index.value, draft.index),
  });
}

/** The commit of the person's HEAD, where its branch is to be fast-forwarded; null where HEAD or its branch stays. */
function forwardedCommit(
  real: RepositoryState,
  head: GitImportPlan["head"],
  { refs }: Pick<GitImportPlan, "refs">,
): string | null {
  const { value: now } = real.head;
  if (head !== null || now.kind !== "symbolic") return null;
  return refs.find(({ name, needsFastForward }) => name === now.target && needsFastForward)?.oldId ?? null;
}

/** An interrupted import that runs again: HEAD has the draft's value already. */
function isAlready(real: RepositoryState, { head }: GitDraft): boolean {
  return head !== null && isSameValue(head, real.head.value);
}

function planRefs(
  real: RepositoryState,
  draft: GitDraft,
  notCarried: string[],
): GitResult<Pick<GitImportPlan, "refs" | "stash">> {
  const refs: RefUpdate[] = [];
  let stash: GitImportPlan["stash"] = null;
  for (const name of changedNames(real, draft)) {
    const now = realValue(real, name);
    const wanted = draftValue(real, draft, name);
    if (now === null ? wanted === null : wanted !== null && isSameValue(now, wanted)) continue;
    const check = checkRefName(name);
    if (check === "ignored" || /^refs\/remotes\/[^/]+\/HEAD$/.test(name)) {
      notCarried.push(name);
      continue;
    }
    if (check === "refused")
      return refuseGit("bad_name", `the name of the ref ${printable(name)} has characters that are never imported`);
    if (wanted?.kind === "symbolic" || now?.kind === "symbolic")
      return refuseGit("unsupported", `${name} is a symbolic ref; only HEAD may be one`);
    if (real.otherBranches.has(name)) return refuseGit("unsupported", `${name} is checked out in a linked worktree`);
    if (refs.length >= refUpdatesMax) return refuseGit("too_large", `more than ${refUpdatesMax} refs changed`);
    const update = planRef(real, draft, name, now?.id ?? null, wanted?.id ?? null);
    if (!update.ok) return update;
    if (name !== STASH) refs.push(update.value);
    // Dropping the last stash is not imported, like dropping any other: its log is the only list of them.
    else if (update.value.newId === null) notCarried.push(STASH);
    else {
      const pushes = stashPushes(real.stashLog, draft.stashLog ?? "", real.format);
      if (pushes?.at(-1)?.id === update.value.newId) stash = { oldId: update.value.oldId, pushes };
      else notCarried.push(STASH);
    }
  }
  return value({ refs, stash });
}

function planRef(
  real: RepositoryState,
  draft: GitDraft,
  name: string,
  oldId: string | null,
  newId: string | null,
): GitResult<RefUpdate> {
  const isSeen = isRefSeen(real, name);
  const isGone = oldId === null && draft.looseRefs.get(name)?.hadBase === true;
  if (isGone || (!isSeen && (newId === null || name === STASH)))
    return refuseGit("conflict", `${name} changed in the repository while the program ran`);
  return value({ name, oldId, newId, needsFastForward: !isSeen && oldId !== null });
}

function changedNames(real: RepositoryState, { looseRefs, packedRefs }: GitDraft): ReadonlySet<string> {
  const names = new Set(looseRefs.keys());
  if (packedRefs === null) return names;
  for (const [name, id] of packedRefs) if (real.packedRefs.value.get(name) !== id) names.add(name);
  for (const name of real.packedRefs.value.keys()) if (!packedRefs.has(name)) names.add(name);
  return names;
}

export function realValue({ looseRefs, packedRefs }: RepositoryState, name: string): RefValue | null {
  return looseRefs.get(name)?.value ?? idValue(packedRefs.value.get(name));
}

/** The value the program saw: its own loose file, else the repository's unless deleted, else the packed value. */
function draftValue(real: RepositoryState, { looseRefs, packedRefs }: GitDraft, name: string): RefValue | null {
  const own = looseRefs.get(name);
  const loose = own === undefined ? (real.looseRefs.get(name)?.value ?? null) : own.value;
  return loose ?? idValue((packedRefs ?? real.packedRefs.value).get(name));
}

function idValue(id: string | undefined): RefValue | null {
  return id === undefined ? null : { kind: "id", id };
}

/** A loose file that is old enough is what the program saw; without one, its folder and `packed-refs` decide. */
function isRefSeen({ looseRefs, refFolders, packedRefs }: RepositoryState, name: string): boolean {
  const loose = looseRefs.get(name);
  if (loose !== undefined) return loose.isSeen;
  if (!packedRefs.isSeen) return false;
  for (let folder = name; folder.includes("/"); ) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    const isSeen = refFolders.get(folder);
    if (isSeen !== undefined) return isSeen;
  }
  return false;
}

function planHead(real: RepositoryState, { head }: GitDraft): GitResult<GitImportPlan["head"]> {
  if (head === null || isSameValue(head, real.head.value)) return value(null);
  if (head.kind === "symbolic" && !isBranchName(head.target))
    return refuseGit("bad_name", `HEAD points to ${printable(head.target)}; only plain names of branches are imported`);
  // As git itself refuses it: what is committed in one of them would look like a change in the other.
  if (head.kind === "symbolic" && real.otherBranches.has(head.target))
    return refuseGit("unsupported", `${head.target} is checked out in a linked worktree`);
  return value({ from: real.head.value, to: head });
}

function newFlags(real: GitIndex | null, draft: GitIndex | null): GitImportPlan["flagsNotCarried"] {
  const known = new Set(real?.flagged.map(({ path, flag }) => `${flag} ${path}`));
  return (draft?.flagged ?? []).filter(({ path, flag }) => !known.has(`${flag} ${path}`));
}

export function isSameValue(left: RefValue, right: RefValue): boolean {
  if (left.kind === "id") return right.kind === "id" && left.id === right.id;
  return right.kind === "symbolic" && left.target === right.target;
}
