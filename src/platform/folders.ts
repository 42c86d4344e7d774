// The user's own folders: configuration and state, by the XDG variables or below the home folder; never in a project.
import { join } from "node:path";
import { realRoot } from "./real-path.ts";

export interface UserFolders {
  /** Null where there is no home and no variable: then there is no user configuration. */
  readonly config: string | null;
  /** Null where there is none: then nothing can be trusted. */
  readonly state: string | null;
}

export interface FoldersAsked {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the password database. */
  readonly home: string | null;
  readonly workspace: string | null;
}

const NAME = "ambit";

/**
 * A variable counts only if it is absolute, and only if it does not point into the project at hand: what a project can
 * set for whoever enters it (an environment file, a container) must not make its own files the user's.
 */
export function userFolders({ environment, home, workspace }: FoldersAsked): UserFolders {
  const folder = (variable: string, below: readonly string[]): string | null => {
    const written = environment[variable];
    if (written?.startsWith("/") === true && !written.includes("\0") && !isInside(written, workspace))
      return join(written, NAME);
    return home === null ? null : join(home, ...below, NAME);
  };
  return { config: folder("XDG_CONFIG_HOME", [".config"]), state: folder("XDG_STATE_HOME", [".local", "state"]) };
}

/** At or below it once links are followed. What cannot be followed counts as inside. */
function isInside(path: string, workspace: string | null): boolean {
  if (workspace === null) return false;
  const inner = realRoot(segmentsOf(path));
  const outer = realRoot(segmentsOf(workspace));
  return inner === null || outer === null || outer.every((name, at) => name === inner[at]);
}

/** The same folder under two names. */
export function isSameFolder(left: string, right: string): boolean {
  const [one, other] = [realRoot(segmentsOf(left)), realRoot(segmentsOf(right))];
  return one !== null && other !== null && one.length === other.length && one.every((name, at) => name === other[at]);
}

/** Of an absolute path, `..` resolved by name. */
export function segmentsOf(path: string): readonly string[] {
  return join("/", path)
    .split("/")
    .filter((name) => name !== "");
}
