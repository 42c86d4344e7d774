// The user's configuration and state folders, from the XDG variables or below the home folder, never in a project.
import { join } from "node:path";
import { realRoot } from "./real-path.ts";

export interface UserFolders {
  /** Null without a home folder and a variable: then there is no user configuration. */
  readonly config: string | null;
  /** Null where there is none: then nothing can be trusted. */
  readonly state: string | null;
}

export interface FolderOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the password database. */
  readonly home: string | null;
  readonly workspace: string | null;
}

const NAME = "ambit";

/**
 * A variable counts only if it is absolute and does not point into the current project: a project can set variables for
 * anyone who enters it (an environment file, a container), and must not make its own files the user's.
 */
export function userFolders({ environment, home, workspace }: FolderOptions): UserFolders {
  const folder = (variable: string, below: readonly string[]): string | null => {
    const written = environment[variable];
    if (written?.startsWith("/") === true && !written.includes("\0") && !isInside(written, workspace))
      return join(written, NAME);
    return home === null ? null : join(home, ...below, NAME);
  };
  return { config: folder("XDG_CONFIG_HOME", [".config"]), state: folder("XDG_STATE_HOME", [".local", "state"]) };
}

/** At or below the folder once links are followed. A path that cannot be resolved counts as inside. */
function isInside(path: string, workspace: string | null): boolean {
  if (workspace === null) return false;
  const inner = realRoot(segmentsOf(path));
  const outer = realRoot(segmentsOf(workspace));
  return inner === null || outer === null || outer.every((name, at) => name === inner[at]);
}

/** Whether both names lead to the same folder. */
export function isSameFolder(left: string, right: string): boolean {
  const [one, other] = [realRoot(segmentsOf(left)), realRoot(segmentsOf(right))];
  return one !== null && other !== null && one.length === other.length && one.every((name, at) => name === other[at]);
}

/** The segments of an absolute path; `..` is resolved lexically. */
export function segmentsOf(path: string): readonly string[] {
  return join("/", path)
    .split("/")
    .filter((name) => name !== "");
}
