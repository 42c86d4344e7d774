// Files as they were in a revision. Only plumbing is called, which runs no filter, no hook and no pager.
import { spawnSync } from "node:child_process";

const bytesMax = 64 * 1024 * 1024;

function git(cwd: string, words: readonly string[]): string | null {
  const { status, stdout } = spawnSync("git", ["-c", "core.fsmonitor=false", "--no-pager", ...words], {
    cwd,
    encoding: "utf8",
    maxBuffer: bytesMax,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout : null;
}

/** The commit a revision names, or null. */
export function commitOf(cwd: string, revision: string): string | null {
  if (revision === "" || revision.startsWith("-")) return null;
  return git(cwd, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`])?.trim() ?? null;
}

/** Paths of a commit below a folder, both relative to `cwd`. */
export function filesOf(cwd: string, commit: string, folder: string): readonly string[] {
  const list = git(cwd, ["ls-tree", "-r", "--name-only", "-z", commit, "--", folder]);
  return list === null ? [] : list.split("\0").filter((path) => path !== "");
}

/** The text of one file, its path relative to `cwd`. */
export function textOf(cwd: string, commit: string, path: string): string | null {
  return git(cwd, ["cat-file", "blob", `${commit}:./${path}`]);
}
