// Facts about this machine that a plan needs besides the grants: our own folders, home folders, and which of the
// requested names exist. Collected outside; every path without links.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Limits, PlanPath } from "./plan.ts";

export interface PlanFacts {
  readonly home: PlanPath | null;
  /** The workspaces: folders with authority files of their own. */
  readonly workspaces: readonly PlanPath[];
  /** Our state, configuration and socket folders. No sandbox ever sees them. */
  readonly ours: readonly PlanPath[];
  /** The folder our own program is installed in. */
  readonly program: PlanPath;
  /** Program trees that the user's configuration adds. */
  readonly runtime: readonly PlanPath[];
  /** From the path settings: `*` matches one name. */
  readonly protectedPaths: readonly PlanPath[];
  /** The existing names for the patterns of `namesToFind`, and every link on their paths. */
  readonly found: readonly ExistingName[];
  /** The content of the folders of `foldersToList`. */
  readonly listed: readonly FolderNames[];
  readonly host: HostEnvironment;
  readonly hasTerminals?: boolean;
  readonly limits: Limits;
  readonly moment: Moment;
}

export interface ExistingName {
  /** Free of links, except that the last name may be one. */
  readonly path: PlanPath;
  readonly kind: "file" | "folder" | "link";
  /** Of a link: its target, existing or not; null where it cannot be resolved. */
  readonly target: PlanPath | null;
  /** Of a link: the other links on the path to the target. */
  readonly by: readonly PlanPath[];
}

export interface FolderNames {
  readonly path: PlanPath;
  /** Empty for a missing path or a non-folder; null where it cannot be listed, or a name is not UTF-8. */
  readonly names: readonly string[] | null;
}

/** Values of the caller's environment that may be passed into a sandbox. */
export interface HostEnvironment {
  readonly user: string;
  readonly terminal: string | null;
  readonly language: string | null;
  readonly timeZone: string | null;
  /** Variables the user's configuration names, with their values. */
  readonly allowed: readonly (readonly [name: string, value: string])[];
}

/** The default limits of a command. */
export const DEFAULT_LIMITS: Limits = {
  wallMilliseconds: 120_000,
  cpuSeconds: 120,
  // Runtimes reserve far more address space than they use: the memory of the tree is limited instead.
  memoryBytes: null,
  treeMemoryBytes: 4 * 1_073_741_824,
  processes: 512,
  fileBytes: 1_073_741_824,
  openFiles: 1_024,
  outputBytes: 16 * 1_048_576,
  temporaryBytes: 536_870_912,
  draftBytes: 4 * 1_073_741_824,
  draftFiles: 400_000,
};
