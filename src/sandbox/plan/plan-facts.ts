// What a plan needs to know about this machine besides the grants: where our own things lie, whose home is where, and
// which of the names it asked for are there. Gathered outside; every path without links.
import type { Moment } from "../../core/authority/compiled.ts";
import type { Limits, PlanPath } from "./plan.ts";

export interface PlanFacts {
  readonly home: PlanPath | null;
  /** The folders of this machine that have authority files of their own. */
  readonly workspaces: readonly PlanPath[];
  /** Our state and configuration, and where our sockets lie. No sandbox ever sees them. */
  readonly ours: readonly PlanPath[];
  /** The folder our own program was installed in. */
  readonly program: PlanPath;
  /** Trees of programs the user's configuration adds. */
  readonly runtime: readonly PlanPath[];
  /** As the ground has them: `*` stands for any one name. */
  readonly protectedPaths: readonly PlanPath[];
  /** Of the patterns of `namesToFind`, what there is, and every link they come by. */
  readonly found: readonly FoundName[];
  /** Of the folders of `foldersToList`, what is in them. */
  readonly listed: readonly ListedFolder[];
  readonly host: HostWords;
  readonly limits: Limits;
  readonly moment: Moment;
}

export interface FoundName {
  /** Without links but, where it is one, its last name. */
  readonly path: PlanPath;
  readonly kind: "file" | "folder" | "link";
  /** Of a link: where it leads, there or not; null where that has no answer. */
  readonly target: PlanPath | null;
  /** Of a link: the other links on the way there. */
  readonly by: readonly PlanPath[];
}

export interface ListedFolder {
  readonly path: PlanPath;
  /** Empty for what is no folder or not there; null where it cannot be listed, or a name cannot be written as text. */
  readonly names: readonly string[] | null;
}

/** What of the caller's environment may be repeated inside, where it is plain. */
export interface HostWords {
  readonly user: string;
  readonly terminal: string | null;
  readonly language: string | null;
  readonly timeZone: string | null;
  /** Variables the user's configuration names, with their values. */
  readonly allowed: readonly (readonly [name: string, value: string])[];
}

/** What a command gets where nothing else is configured. */
export const DEFAULT_LIMITS: Limits = {
  wallMilliseconds: 120_000,
  cpuSeconds: 120,
  // Runtimes reserve far more addresses than they use: the tree's memory is what counts.
  memoryBytes: null,
  treeMemoryBytes: 4 * 1_073_741_824,
  processes: 512,
  fileBytes: 1_073_741_824,
  openFiles: 1_024,
  outputBytes: 16 * 1_048_576,
  temporaryBytes: 536_870_912,
};
