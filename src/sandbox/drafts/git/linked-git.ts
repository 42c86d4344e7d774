// A root whose `.git` is a file: a linked worktree or a submodule, whose git folder lies outside the root. The git
// folder must name the root as its worktree too: a `.git` file alone could point at any repository of the machine.

import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errorCode } from "../../../core/base/error-code.ts";
import { type GitResult, printable, refuseGit, value } from "../../plan/drafts/git/git-refusal.ts";
import { readGitConfig } from "../../plan/triggers/git-config.ts";
import { kindAt, readGitFile } from "./git-files.ts";
import type { GitFolders } from "./repository.ts";

export interface LinkedGit extends GitFolders {
  readonly kind: "worktree" | "submodule";
}

const pointerBytesMax = 8_192;
const configBytesMax = 1_048_576;

/**
 * `top`: the folder with the `.git` file; a real path. Null where `.git` is no file: there is a git folder, or none.
 * Not ok where the file leads to a folder that does not belong to `top`.
 */
export function linkedGitOf(top: string): GitResult<LinkedGit | null> {
  try {
    if (kindAt(join(top, ".git"))?.kind !== "file") return value(null);
    const written = pointerIn(join(top, ".git"), ".git", /^gitdir: *([^\n]+)\n?$/);
    if (!written.ok) return written;
    const folder = realFolder(top, written.value);
    if (folder === null) return refuseGit("unsupported", "the `.git` file does not point to a folder");
    if (kindAt(join(folder, "HEAD"))?.kind !== "file")
      return refuseGit("unsupported", "the `.git` file points to a folder that is not a git folder");
    const found = kindAt(join(folder, "commondir")) === null ? submoduleAt(folder, top) : worktreeAt(folder, top);
    if (!found.ok) return found;
    if (lstatSync(found.value.common).uid !== lstatSync(top).uid)
      return refuseGit("unsupported", "the git folder of this worktree belongs to another user");
    return found;
  } catch (error) {
    return refuseGit("unsupported", `the git folder of this worktree cannot be read (${errorCode(error)})`);
  }
}

/** `<common>/worktrees/<name>` with a `gitdir` file that names `<top>/.git`. */
function worktreeAt(folder: string, top: string): GitResult<LinkedGit> {
  const shared = pointerIn(join(folder, "commondir"), "commondir", /^([^\n]+)\n?$/);
  if (!shared.ok) return shared;
  const common = realFolder(folder, shared.value);
  if (common === null || dirname(folder) !== join(common, "worktrees"))
    return refuseGit("unsupported", "the git folder of this worktree is not below `worktrees` of its repository");
  const back = pointerIn(join(folder, "gitdir"), "gitdir", /^([^\n]+)\n?$/);
  if (!back.ok) return back;
  const named = isAbsolute(back.value) ? back.value : join(folder, back.value);
  if (!named.endsWith("/.git") || realFolder("/", dirname(named)) !== top)
    return refuseGit(
      "unsupported",
      `the repository has this worktree at ${printable(named)}; run \`git worktree repair\``,
    );
  return value({ kind: "worktree", folder, common });
}

/** A git folder of its own, whose `core.worktree` names `top`. */
function submoduleAt(folder: string, top: string): GitResult<LinkedGit> {
  const config = readGitFile(join(folder, "config"), configBytesMax, "config");
  if (!config.ok) return config;
  const settings = readGitConfig(config.value?.bytes.toString("utf8") ?? "");
  const worktree = settings.ok
    ? settings.value.findLast(({ section, key }) => section === "core" && key === "worktree")?.value
    : null;
  // A replaced byte would name another folder.
  if (typeof worktree !== "string" || worktree.includes("\uFFFD") || realFolder(folder, worktree) !== top)
    return refuseGit("unsupported", "the git folder that `.git` points to does not have this folder as its worktree");
  return value({ kind: "submodule", folder, common: folder });
}

function pointerIn(path: string, name: string, pattern: RegExp): GitResult<string> {
  const file = readGitFile(path, pointerBytesMax, name);
  if (!file.ok) return file;
  const written = pattern.exec(file.value?.bytes.toString("utf8") ?? "")?.[1];
  if (written === undefined || written.includes("\0") || written.includes("\uFFFD"))
    return refuseGit("unsupported", `${name} names no folder`);
  return value(written);
}

/** Null where there is no folder. */
function realFolder(base: string, written: string): string | null {
  try {
    const real = realpathSync.native(isAbsolute(written) ? written : join(base, written));
    return kindAt(real)?.kind === "folder" ? real : null;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR" || errorCode(error) === "ELOOP") return null;
    throw error;
  }
}
