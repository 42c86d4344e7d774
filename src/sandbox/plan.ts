// What a sandbox is made of, as data: what it sees, what it may change, what it is told, whom it may call, how much it
// may use. Made from the grants that decided, printed for each mechanism, never wider than the grants are.
import type { PortRange } from "../authority/scope.ts";
import type { TreePath } from "../authority/tree-patterns.ts";

/** Absolute, without links: segments from the top of the machine. */
export type PlanPath = readonly string[];

/**
 * ro: the real folder, read only. draft: a fresh overlay over the real folder, whose changes are a draft; what a grant of
 * `root=rw` means. live: a private copy of the real folder that is kept in step with it while the program runs; what
 * `root=live` means. direct: the real folder, writable; never made from grants, only for programs of our own.
 */
export type RootMode = "ro" | "draft" | "live" | "direct";

export interface PlanRoot {
  readonly path: PlanPath;
  readonly mode: RootMode;
  /** For a live root, once the copy is made. INVARIANT: without it no live root is run. */
  readonly copy?: LiveCopy;
}

export interface LiveCopy {
  /** The draft that the copy belongs to. */
  readonly draft: string;
  /** Where the copy lies on the host. */
  readonly path: PlanPath;
}

export interface PlanNetwork {
  /** What may be called at all, over every name; for kernels that cannot show us every port. */
  readonly ports: readonly PortRange[];
  /** For the broker's own check: for each chain, for each of its links, its `net.connect` grants as compact specs. */
  readonly chains: readonly (readonly (readonly string[])[])[];
}

export interface Limits {
  readonly wallMilliseconds: number;
  readonly cpuSeconds: number;
  /** Address space of one process; null where a runtime needs to reserve more than it uses. */
  readonly memoryBytes: number | null;
  /** Memory of the whole tree, where control groups are ours to use. */
  readonly treeMemoryBytes: number;
  /** What a runtime maps to write to and never uses: it comes on top where no control group counts what is used. */
  readonly unusedBytes?: number;
  readonly processes: number;
  readonly fileBytes: number;
  readonly openFiles: number;
  readonly outputBytes: number;
  readonly temporaryBytes: number;
}

export interface Plan {
  /** Null: a throw-away sandbox with nothing of the host but programs. */
  readonly root: PlanRoot | null;
  /** Trees of programs beside the system's own, read and executed, never written. */
  readonly runtime: readonly PlanPath[];
  /** Names below the root that do not exist inside, whatever lies there or appears there later. Parents first. */
  readonly masked: readonly PlanPath[];
  /** What of the root `fs.read` shows, for the enforcement report; absent where it shows all of it. */
  readonly visible?: string;
  /** The same as paths, for a live root: names that appear later are hidden as well. */
  readonly shown?: readonly TreePath[];
  /** Where commands start. */
  readonly directory: PlanPath;
  /** All of it: nothing is inherited. */
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly network: PlanNetwork | null;
  readonly limits: Limits;
  /** The root's `.git` is a file that leads to these folders outside of it. */
  readonly linkedGit?: LinkedGitFolders;
}

/** The git folder of a linked worktree or of a submodule. */
export interface LinkedGitFolders {
  /** HEAD and index. */
  readonly folder: PlanPath;
  /** Refs, objects and config; around `folder`, or the same. */
  readonly common: PlanPath;
}
