// Reads a person's repository for the import: its folders, and the current refs, HEAD and index.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../platform/digest.ts";
import { IN_PROGRESS_NAMES } from "../../plan/drafts/git/folder-names.ts";
import { type GitRefusal, type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { FileState, RepositoryState } from "../../plan/drafts/git/import-plan.ts";
import { entriesByPath } from "../../plan/drafts/git/index-changes.ts";
import { type GitIndex, indexBytesMax, parseIndex } from "../../plan/drafts/git/index-file.ts";
import type { ObjectFormat } from "../../plan/drafts/git/object-id.ts";
import {
  looseRefBytesMax,
  packedRefsBytesMax,
  parsePackedRefs,
  parseRefFile,
  type RefValue,
} from "../../plan/drafts/git/ref-file.ts";
import {
  configBytesMax,
  parseRepositoryFormat,
  type RepositoryFormat,
} from "../../plan/drafts/git/repository-format.ts";
import { stashLogBytesMax } from "../../plan/drafts/git/stash-log.ts";
import { BYTE_TEXT, isIndexIntact } from "./byte-text.ts";
import { type GitFile, kindAt, readGitFile } from "./git-files.ts";

/** Every path is absolute and without links; `gitPath` and `worktreePath` are names below `root`. */
export interface GitRepository {
  /** The root of the draft. */
  readonly root: string;
  /** The git folder in the draft: [".git"], or that of a submodule or of a linked worktree. */
  readonly gitPath: readonly string[];
  /** The folder whose files the index describes; often []. */
  readonly worktreePath: readonly string[];
  /**
   * The path of the person's git folder, if it is not `gitPath` below `root` or shares refs and objects with others.
   */
  readonly folders?: GitFolders;
  /** Of a linked worktree below `root`: where the draft has the objects of its repository. */
  readonly commonPath?: readonly string[];
  /** Git folders of linked worktrees whose own part is imported together with this one: their branches may move. */
  readonly together?: readonly string[];
}

export interface GitFolders {
  /** HEAD and index. */
  readonly folder: string;
  /** Refs, objects and config: the same folder, or that of the main worktree. */
  readonly common: string;
}

export interface StartState {
  /** When the program started, on the file system's clock: earlier changes are what the program saw. */
  readonly startedNanoseconds: bigint;
  /** HEAD and index that the program saw, where that is known. Called only where times do not answer. */
  seen?(): RepositorySnapshot | null;
}

/** Values, not times: a `git status` of the person's rewrites the index and leaves every entry as it was. */
export interface RepositorySnapshot {
  /** The text of HEAD. */
  readonly head: string;
  /** Digest of the entries of the index; null where it could not be read. */
  readonly entries: string | null;
}

const looseRefsMax = 20_000;
const worktreesMax = 1_000;

export function gitFoldersOf({ root, gitPath, folders }: GitRepository): GitFolders {
  const folder = join(root, ...gitPath);
  return folders ?? { folder, common: folder };
}

/**
 * Refuses anything but a plain git folder. An obstacle prevents an import, not the check whether there is anything to
 * import.
 */
export function readFormat({ folder, common }: GitFolders): GitResult<RepositoryFormat> {
  for (const name of ["", "refs", "objects", "objects/pack"])
    if (kindAt(join(common, name))?.kind !== "folder")
      return refuseGit("unsupported", `${name === "" ? "the git folder" : name} is not a folder`);
  if (kindAt(folder)?.kind !== "folder")
    return refuseGit("unsupported", "the git folder of the worktree is not a folder");
  if (folder === common && kindAt(join(folder, "commondir")) !== null)
    return refuseGit("unsupported", "the git folder refers to another one for its refs");
  const config = readGitFile(join(common, "config"), configBytesMax, "config");
  if (!config.ok) return config;
  if (config.value === null) return refuseGit("unsupported", "the repository has no config file");
  const { obstacle, ...format } = parseRepositoryFormat(config.value.bytes.toString("latin1"));
  return value({ ...format, obstacle: obstacle ?? obstacleIn(folder, common) });
}

const OBSTACLES: readonly (readonly [name: string, why: string])[] = [
  ["reftable", "its refs are in a reftable"],
  ["info/grafts", "it has grafts"],
];

function obstacleIn(folder: string, common: string): GitRefusal | null {
  for (const [name, why] of OBSTACLES)
    if (kindAt(join(common, name)) !== null)
      return { code: "unsupported", message: `nothing is imported into this repository: ${why}` };
  for (const name of IN_PROGRESS_NAMES)
    if (kindAt(join(folder, name)) !== null)
      return {
        code: "in_progress",
        message: `the repository has an operation in progress (${name}); finish or abort it first`,
      };
  return null;
}

export function readRepository(
  { folder, common }: GitFolders,
  { format, isBare }: RepositoryFormat,
  together: readonly string[],
  start: StartState,
): GitResult<RepositoryState> {
  const { startedNanoseconds } = start;
  const isOld = (changed: bigint): boolean => changed <= startedNanoseconds;
  const head = readGitFile(join(folder, "HEAD"), looseRefBytesMax, "HEAD");
  if (!head.ok) return head;
  if (head.value === null) return refuseGit("unsupported", "the repository has no HEAD");
  const headValue = parseRefFile(head.value.bytes.toString("latin1"), format, "HEAD");
  if (!headValue.ok) return headValue;
  const loose = readLooseRefs(common, format, isOld);
  if (!loose.ok) return loose;
  const packed = readGitFile(join(common, "packed-refs"), packedRefsBytesMax, "packed-refs");
  if (!packed.ok) return packed;
  const packedRefs = parsePackedRefs(packed.value?.bytes.toString("latin1") ?? "", format);
  if (!packedRefs.ok) return packedRefs;
  const index = readGitFile(join(folder, "index"), indexBytesMax, "index");
  if (!index.ok) return index;
  const parsed = index.value === null ? value(null) : parseIndexFile(index.value, format);
  if (!parsed.ok) return parsed;
  const log = readGitFile(join(common, "logs/refs/stash"), stashLogBytesMax, "logs/refs/stash");
  if (!log.ok) return log;
  const others = readOtherBranches(common, [folder, ...together], format, isBare);
  if (!others.ok) return others;
  const headText = head.value.bytes.toString("latin1");
  const isHeadOld = isOld(head.value.changedNanoseconds);
  const isIndexOld = isOld(index.value?.changedNanoseconds ?? 0n);
  const seen = isHeadOld && isIndexOld ? null : (start.seen?.() ?? null);
  return value({
    format,
    otherBranches: others.value,
    head: { value: headValue.value, isSeen: isHeadOld || seen?.head === headText },
    ...loose.value,
    packedRefs: { value: packedRefs.value, isSeen: isOld(packed.value?.changedNanoseconds ?? 0n) },
    index: {
      value: parsed.value,
      isSeen: isIndexOld || (seen !== null && seen.entries === entriesDigest(parsed.value)),
    },
    stashLog: log.value?.bytes.toString("latin1") ?? "",
  });
}

/** Identities of HEAD and index; a rewrite makes another file. */
export interface RepositoryMarks {
  readonly head: string;
  readonly index: string;
}

export function readMarks({ folder }: GitFolders): RepositoryMarks {
  const markOf = (name: string): string => {
    const found = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "absent" : `${found.dev} ${found.ino} ${found.size} ${found.ctimeNs}`;
  };
  return { head: markOf("HEAD"), index: markOf("index") };
}

export function parseIndexFile({ bytes }: Pick<GitFile, "bytes">, format: ObjectFormat): GitResult<GitIndex> {
  if (!isIndexIntact(bytes, format)) return refuseGit("malformed", "the checksum of the index is wrong");
  return parseIndex(bytes, format, BYTE_TEXT);
}

/** HEAD and index as they are now; null where there is no HEAD that can be read. */
export function readSeenState(folders: GitFolders): RepositorySnapshot | null {
  const head = readGitFile(join(folders.folder, "HEAD"), looseRefBytesMax, "HEAD");
  if (!head.ok || head.value === null) return null;
  const index = readGitFile(join(folders.folder, "index"), indexBytesMax, "index");
  return {
    head: head.value.bytes.toString("latin1"),
    entries: index.ok ? fileEntriesDigest(folders, index.value) : null,
  };
}

/** `file`: null where there is no index. Null where it cannot be parsed. */
export function fileEntriesDigest(folders: GitFolders, file: Pick<GitFile, "bytes"> | null): string | null {
  if (file === null) return entriesDigest(null);
  const format = readFormat(folders);
  const index = format.ok ? parseIndexFile(file, format.value.format) : format;
  return index.ok ? entriesDigest(index.value) : null;
}

/** Of what an import compares: mode, id and stage of each path. `file`: null where there is no index. Null where it cannot be parsed. */
export function indexDigest(file: Pick<GitFile, "bytes"> | null, format: ObjectFormat): string | null {
  if (file === null) return entriesDigest(null);
  const index = parseIndexFile(file, format);
  return index.ok ? sha256(JSON.stringify([...entriesByPath(index.value)])) : null;
}

export function entriesDigest(index: GitIndex | null): string {
  return index === null ? "absent" : sha256(JSON.stringify(index.entries));
}

/** What the other worktrees of the repository have checked out, the main one among them unless it is bare. */
function readOtherBranches(
  common: string,
  imported: readonly string[],
  format: ObjectFormat,
  isBare: boolean,
): GitResult<ReadonlySet<string>> {
  const branches = new Set<string>();
  const worktrees = join(common, "worktrees");
  const names = kindAt(worktrees)?.kind === "folder" ? readdirSync(worktrees) : [];
  if (names.length > worktreesMax)
    return refuseGit("too_large", `the repository has more than ${worktreesMax} worktrees`);
  const others = [...(isBare ? [] : [common]), ...names.map((name) => join(worktrees, name))];
  for (const other of others) {
    if (imported.includes(other)) continue;
    const head = readGitFile(join(other, "HEAD"), looseRefBytesMax, "HEAD of another worktree");
    if (!head.ok) return head;
    const ref = head.value === null ? null : parseRefFile(head.value.bytes.toString("latin1"), format, "HEAD");
    if (ref?.ok === true && ref.value.kind === "symbolic") branches.add(ref.value.target);
  }
  return value(branches);
}

/** `folder`: the one that has `refs`. */
export function readLooseRefs(
  folder: string,
  format: ObjectFormat,
  isOld: (changed: bigint) => boolean,
): GitResult<Pick<RepositoryState, "looseRefs" | "refFolders">> {
  const looseRefs = new Map<string, FileState<RefValue>>();
  const refFolders = new Map<string, boolean>();
  const waiting = ["refs"];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const found = kindAt(join(folder, at));
    if (found?.kind !== "folder") return refuseGit("unsupported", `${at} is not a folder`);
    refFolders.set(at, isOld(found.changed));
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const name = `${at}/${entry.name}`;
      if (looseRefs.size + refFolders.size + waiting.length > looseRefsMax)
        return refuseGit(
          "too_large",
          `the repository has more than ${looseRefsMax} loose refs; run \`git pack-refs --all\``,
        );
      if (entry.isDirectory()) waiting.push(name);
      if (entry.isDirectory() || entry.name.endsWith(".lock")) continue;
      const file = readGitFile(join(folder, name), looseRefBytesMax, name);
      if (!file.ok) return file;
      if (file.value === null) continue;
      const ref = parseRefFile(file.value.bytes.toString("latin1"), format, name);
      // A damaged ref of the person's own is no base for a change, and no reason to refuse the others.
      if (ref.ok) looseRefs.set(name, { value: ref.value, isSeen: isOld(file.value.changedNanoseconds) });
    }
  }
  return value({ looseRefs, refFolders });
}
