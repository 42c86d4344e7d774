// Compares a private git folder with its initial state: what the program changed, and whether the person's repository
// still has what the program saw. Both are compared by value, so that no clock matters.
import { join } from "node:path";
import type { Change } from "../../plan/drafts/change.ts";
import { type GitResult, value } from "../../plan/drafts/git/git-refusal.ts";
import type { FileState, GitDraft, RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import { isSameValue } from "../../plan/drafts/git/import-plan.ts";
import { indexChanges } from "../../plan/drafts/git/index-changes.ts";
import { indexBytesMax } from "../../plan/drafts/git/index-file.ts";
import { parseRefFile, type RefValue } from "../../plan/drafts/git/ref-file.ts";
import { readGitFile } from "./git-files.ts";
import { fileDigest, type LinkedSeed, type ReadSeed } from "./linked-seed.ts";
import { parseIndexFile, type RepositoryMarks } from "./repository.ts";

/** The current repository; a value equal to the seed's is what the program saw. */
export function seenSinceSeed(
  now: RepositoryState,
  seed: ReadSeed,
  marks: RepositoryMarks,
): GitResult<RepositoryState> {
  const head = parseRefFile(seed.head, now.format, "HEAD");
  if (!head.ok) return head;
  const known = new Map(seed.personRefs ?? seed.refs);
  const names = new Set([...now.looseRefs.keys(), ...now.packedRefs.value.keys(), ...known.keys()]);
  const looseRefs = new Map<string, FileState<RefValue>>();
  for (const name of names) {
    const ref = now.looseRefs.get(name)?.value ?? idValue(now.packedRefs.value.get(name));
    if (ref === null) continue;
    const isSeen = ref.kind === "symbolic" || known.get(name) === ref.id;
    looseRefs.set(name, { value: ref, isSeen });
  }
  return value({
    ...now,
    head: { value: now.head.value, isSeen: isSameValue(head.value, now.head.value) },
    looseRefs,
    // The program saw a name missing from the repository as absent, unless the seed has it.
    refFolders: new Map([["refs", true]]),
    packedRefs: { value: new Map(), isSeen: true },
    index: { value: now.index.value, isSeen: marks.index === seed.marks.index || hasSeedEntries(now, seed) },
    // The pushes of the program are the lines after those. A push of the person's moves `refs/stash`.
    stashLog: seed.stashLog,
  });
}

/**
 * A `git status` of the person's rewrites the index and leaves its entries as they were. A path that is only to be added later
 * ("intent to add") is never imported, so that one side may have it.
 */
function hasSeedEntries({ index, format }: RepositoryState, { indexFile }: ReadSeed): boolean {
  const file = readGitFile(indexFile, indexBytesMax, "the index of the seed");
  if (!file.ok || file.value === null) return false;
  const seed = parseIndexFile(file.value, format);
  return seed.ok && index.value !== null && indexChanges(seed.value, index.value).length === 0;
}

/** `draft`: everything in the private git folder. Its initial content is left out. */
export function draftSinceSeed(draft: GitDraft, real: RepositoryState, seed: ReadSeed): GitResult<GitDraft> {
  const known = new Map(seed.refs);
  const packed = draft.packedRefs ?? known;
  const looseRefs = new Map<string, { value: RefValue | null; hadBase: boolean }>();
  for (const name of new Set([...known.keys(), ...packed.keys(), ...draft.looseRefs.keys()])) {
    const own = draft.looseRefs.get(name)?.value ?? idValue(packed.get(name));
    const before = idValue(known.get(name));
    if (
      seed.files[name] !== undefined ||
      (own === null ? before === null : before !== null && isSameValue(own, before))
    )
      continue;
    looseRefs.set(name, { value: own, hadBase: before !== null });
  }
  const head = parseRefFile(seed.head, real.format, "HEAD");
  if (!head.ok) return head;
  const index = indexSinceSeed(draft, real, seed.indexFile);
  if (!index.ok) return index;
  return value({
    ...draft,
    head: draft.head === null || isSameValue(draft.head, head.value) ? null : draft.head,
    looseRefs,
    packedRefs: null,
    index: index.value,
  });
}

/** Null where every path has its initial entries. */
function indexSinceSeed(
  { index }: GitDraft,
  { format }: RepositoryState,
  seedIndex: string,
): GitResult<GitDraft["index"]> {
  if (index === null) return value(null);
  const file = readGitFile(seedIndex, indexBytesMax, "the index of the seed");
  if (!file.ok) return file;
  const before = file.value === null ? value(null) : parseIndexFile(file.value, format);
  if (!before.ok) return before;
  return value(indexChanges(before.value, index).length === 0 ? null : index);
}

/** The changes of a draft that are not the initial content of its private git folder. */
export function changesSinceSeed(changes: readonly Change[], upper: string, seed: LinkedSeed): readonly Change[] {
  const isFolder = changes.some(({ kind, path }) => kind === "folder" && path.length === 1 && path[0] === ".git");
  return changes.filter((change) => {
    const { kind, path } = change;
    if (path[0] !== ".git") return true;
    // The private folder replaces the root's `.git` file.
    if (path.length === 1 && isFolder) return false;
    // Subfolders of a git folder have no meaning by themselves.
    if (kind === "folder") return false;
    const digest = seed.files[path.slice(1).join("/")];
    if (kind !== "file" || digest === undefined) return true;
    const file = readGitFile(join(upper, ...path), indexBytesMax, path.join("/"));
    return !file.ok || file.value === null || fileDigest(file.value.bytes) !== digest;
  });
}

function idValue(id: string | undefined): RefValue | null {
  return id === undefined ? null : { kind: "id", id };
}
