// Reads files of a git revision. The repository may be hostile: only plumbing commands run, and no configuration of the
// repository, the user or the system can start a program or open a connection.
import { spawnSync } from "node:child_process";
import { devNull } from "node:os";

const bytesMax = 64 * 1024 * 1024;
const millisecondsMax = 60_000;
const acceptedFoldersMax = 64;

/**
 * Every setting that makes git start a program or fetch; settings on the command line override those of a repository.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": devNull,
  "core.pager": "cat",
  "core.editor": "false",
  "core.askPass": "false",
  "core.sshCommand": "false",
  "core.gitProxy": "",
  "core.alternateRefsCommand": "false",
  "core.attributesFile": devNull,
  "core.excludesFile": devNull,
  "credential.helper": "",
  "diff.external": "",
  "gpg.program": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "fetch.recurseSubmodules": "false",
  "submodule.recurse": "false",
  "protocol.allow": "never",
  "uploadpack.packObjectsHook": "",
};

/** INVARIANT: git gets only the search path of the caller's environment, without folders relative to the repository. */
function environment(): NodeJS.ProcessEnv {
  return {
    PATH: searchPath(process.env["PATH"] ?? ""),
    LC_ALL: "C",
    // Missing objects stay missing; for older versions of git that fetch anyway, no transport is allowed.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
  };
}

/** A relative folder would be resolved inside the repository. */
function searchPath(path: string): string {
  return path
    .split(":")
    .filter((folder) => folder.startsWith("/"))
    .join(":");
}

function git(cwd: string, words: readonly string[]): string | null {
  const settings = Object.entries(SETTINGS).map(([key, value]) => `${key}=${value}`);
  const accepted = acceptedFolders().map((folder) => `safe.directory=${folder}`);
  const options = [...settings, ...accepted].flatMap((setting) => ["-c", setting]);
  return run(cwd, ["--no-pager", ...options, ...words], environment());
}

function run(cwd: string, words: readonly string[], env: NodeJS.ProcessEnv): string | null {
  const { status, stdout } = spawnSync("git", words, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: bytesMax,
    timeout: millisecondsMax,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout : null;
}

/**
 * Folders of other users that the user told git to accept (`safe.directory`): the only setting taken from the user's
 * configuration. It is read outside of every repository.
 */
function acceptedFolders(): readonly string[] {
  const home = process.env["HOME"];
  const folders = process.env["XDG_CONFIG_HOME"];
  const env = {
    PATH: searchPath(process.env["PATH"] ?? ""),
    LC_ALL: "C",
    GIT_DIR: devNull,
    ...(home === undefined ? {} : { HOME: home }),
    ...(folders === undefined ? {} : { XDG_CONFIG_HOME: folders }),
  };
  const found = ["--system", "--global"].map(
    (scope) => run("/", ["config", scope, "--null", "--get-all", "safe.directory"], env) ?? "",
  );
  return found
    .join("")
    .split("\0")
    .filter((folder) => folder !== "")
    .slice(0, acceptedFoldersMax);
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
