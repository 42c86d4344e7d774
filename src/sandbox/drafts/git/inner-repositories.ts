// The repositories in one git folder: its own, those of submodules below `modules`, and the private parts of linked
// worktrees below `worktrees`. The list is read from the person's folder, never from the draft.

import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import type { GitChanges } from "../../plan/drafts/landing.ts";
import { readGitConfig } from "../../plan/triggers/git-config.ts";
import { kindAt, readGitFile } from "./git-files.ts";
import { linkedGitOf } from "./linked-git.ts";
import type { GitRepository } from "./repository.ts";

type Path = readonly string[];

const pointerBytesMax = 8_192;
const configBytesMax = 1_048_576;
const depthMax = 32;

/** The same changes, each with the innermost repository that contains it. A repository without changes is left out. */
export function innerRepositories(root: string, { repository, changes }: GitChanges): readonly GitChanges[] {
  const known = new Map<string, Path>();
  const groups = new Map<string, { repository: Path; changes: GitChanges["changes"][number][] }>();
  for (const change of changes) {
    const folder = innermost(root, repository, change.path, known);
    const key = folder.join("/");
    const group = groups.get(key) ?? { repository: folder, changes: [] };
    group.changes.push(change);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function innermost(root: string, repository: Path, path: Path, known: Map<string, Path>): Path {
  // Every file of one folder belongs to the same repository.
  const key = path.slice(0, -1).join("/");
  const found = known.get(key);
  if (found !== undefined) return found;
  let folder = repository;
  for (let depth = 0; depth < depthMax; depth += 1) {
    const inner = innerFolder(root, folder, path);
    if (inner === null) break;
    folder = inner;
  }
  known.set(key, folder);
  return folder;
}

/** The git folder directly below this one that contains a path; null where it is this one's own. */
function innerFolder(root: string, folder: Path, path: Path): Path | null {
  const kind = path[folder.length];
  if (kind !== "modules" && kind !== "worktrees") return null;
  // The name of a submodule may contain slashes.
  const end = kind === "modules" ? path.length : Math.min(path.length, folder.length + 3);
  for (let length = folder.length + 2; length < end || length === folder.length + 2; length += 1) {
    const inner = path.slice(0, length);
    if (inner.length < length || kindAt(join(root, ...inner))?.kind !== "folder") return null;
    if (kindAt(join(root, ...inner, "HEAD"))?.kind === "file") return inner;
  }
  return null;
}

/**
 * Where the worktree of a git folder lies, and where its refs are. `gitPath`: below the root, `.git` itself or one of
 * `innerRepositories`. INVARIANT: the worktree's `.git` file leads back to the folder, and both lie below the root.
 */
export function repositoryOf(root: string, gitPath: Path): GitResult<GitRepository> {
  const last = gitPath.at(-1);
  const isInner = gitPath.slice(0, -1).some((name) => name === ".git");
  if (last === ".git" && !isInner) return value({ root, gitPath, worktreePath: gitPath.slice(0, -1) });
  if (!isInner) return refuseGit("unsupported", "a git folder of this layout is not imported");
  try {
    const folder = join(root, ...gitPath);
    const top = worktreeNamedIn(folder);
    if (top === null) return refuseGit("unsupported", "the git folder names no worktree");
    if (top !== root && !top.startsWith(`${root}/`))
      return refuseGit("unsupported", "its worktree lies outside of the root");
    const linked = linkedGitOf(top);
    if (!linked.ok) return linked;
    if (linked.value?.folder !== folder) return refuseGit("unsupported", "its worktree has another git folder");
    const { common } = linked.value;
    if (!common.startsWith(`${root}/`)) return refuseGit("unsupported", "its refs lie outside of the root");
    const worktreePath = top
      .slice(root.length)
      .split("/")
      .filter((name) => name !== "");
    const commonPath = common.slice(root.length + 1).split("/");
    return value({ root, gitPath, worktreePath, commonPath, folders: { folder, common } });
  } catch (error) {
    return refuseGit("unsupported", `the git folder cannot be read (${errorCode(error)})`);
  }
}

/** By `gitdir` of a linked worktree, or by `core.worktree` of a submodule. */
function worktreeNamedIn(folder: string): string | null {
  const file = readGitFile(join(folder, "gitdir"), pointerBytesMax, "gitdir");
  if (!file.ok) return null;
  const written = file.value === null ? configuredWorktree(folder) : dirname(file.value.bytes.toString("utf8"));
  if (written === null || written.includes("\0") || written.includes("\uFFFD")) return null;
  try {
    return realpathSync.native(isAbsolute(written) ? written : join(folder, written));
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    throw error;
  }
}

function configuredWorktree(folder: string): string | null {
  const file = readGitFile(join(folder, "config"), configBytesMax, "config");
  const settings = file.ok ? readGitConfig(file.value?.bytes.toString("utf8") ?? "") : null;
  if (settings?.ok !== true) return null;
  return settings.value.findLast(({ section, key }) => section === "core" && key === "worktree")?.value ?? null;
}
