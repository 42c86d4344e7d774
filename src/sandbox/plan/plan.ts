// A sandbox as data: what it sees, what it may change, its environment, its network, its limits. Derived from the
// deciding grants, printed for each mechanism, never wider than the grants.
import type { PortRange } from "../../core/authority/axes/scope.ts";
import type { TreePath } from "../../core/authority/patterns/tree-patterns.ts";

/** Absolute, without links: segments from the top of the machine. */
export type PlanPath = readonly string[];

/**
 * ro: the real folder, read-only. draft: a fresh overlay over the real folder, whose changes are a draft (`root=rw`).
 * live: a private copy of the real folder, synchronized with it while the program runs (`root=live`). direct: the real
 * folder, writable; never derived from grants, only for our own programs.
 */
export type RootMode = "ro" | "draft" | "live" | "direct";

export interface PlanRoot {
  readonly path: PlanPath;
  readonly mode: RootMode;
  /** For a live root, once the copy exists. INVARIANT: without it no live root is run. */
  readonly copy?: LiveCopy;
}

export interface LiveCopy {
  /** The draft of the copy. */
  readonly draft: string;
  /** The host path of the copy. */
  readonly path: PlanPath;
  /** On the disk, before a program ran in it. */
  readonly size: { readonly bytes: number; readonly inodes: number };
}

export interface PlanNetwork {
  /** All ports of all hosts; for kernels on which not every port can be redirected. */
  readonly ports: readonly PortRange[];
  /** Ports of 127.0.0.1 that lead to the host's loopback: those that are granted for that address, or for `localhost`. */
  readonly loopback: readonly number[];
  /** The port of 127.0.0.1 where the model relay and the door of the session listen; absent: there is none. */
  readonly relay?: number;
  /** Exact names whose git traffic goes through the broker's git relay; absent: there are none. */
  readonly git?: readonly string[];
  /** For the broker's own check: the `net.connect` grants as compact specs, by chain and link. */
  readonly chains: readonly (readonly (readonly string[])[])[];
}

export interface Limits {
  /** 0: no limit. */
  readonly wallMilliseconds: number;
  readonly cpuSeconds: number;
  /** Address space of one process; null where a runtime reserves more than it uses. */
  readonly memoryBytes: number | null;
  /** Memory of the whole tree, where control groups are available. */
  readonly treeMemoryBytes: number;
  /** Writable mappings that a runtime never uses: added where no control group counts actual use. */
  readonly unusedBytes?: number;
  readonly processes: number;
  readonly fileBytes: number;
  readonly openFiles: number;
  readonly outputBytes: number;
  readonly temporaryBytes: number;
  /** What a command may write in its root; a live copy may grow by as much. Measured while it runs. */
  readonly draftBytes: number;
  readonly draftFiles: number;
}

export interface Plan {
  /** Null: a throw-away sandbox with nothing of the host but programs. */
  readonly root: PlanRoot | null;
  /** Program trees beside the system's own, readable and executable, never writable. */
  readonly runtime: readonly PlanPath[];
  /** Names below the root that are hidden, whether they exist now or later. Parents first. */
  readonly masked: readonly PlanPath[];
  /** The part of the root that `fs.read` shows, for the enforcement report; absent where it shows all. */
  readonly visible?: string;
  /** The same as paths, for a live root: names that appear later are hidden as well. */
  readonly shown?: readonly TreePath[];
  /** The folder on the host that is the home inside, and stays; absent: the home is empty and goes with the sandbox. */
  readonly home?: PlanPath;
  /** The folder on the host with the package of an MCP server: read-only, at a place of ours. */
  readonly package?: PlanPath;
  /** Shared stores that the agent may read as a whole. */
  readonly stores?: readonly PlanStore[];
  /** Where commands start. */
  readonly directory: PlanPath;
  /** The complete environment: nothing is inherited. */
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly network: PlanNetwork | null;
  /** Programs can have terminals: the sandbox has a devpts instance of its own. */
  readonly hasTerminals?: true;
  readonly limits: Limits;
  /** Other names of the root, and of folders on the path to it or in it. */
  readonly links?: readonly PlanLink[];
  /** The root's `.git` is a file that leads to these folders outside of it. */
  readonly linkedGit?: LinkedGitFolders;
}

/** A symbolic link outside of every tree of the plan. */
export interface PlanLink {
  readonly path: PlanPath;
  /** Its target without links. */
  readonly target: PlanPath;
}

/** A folder of the host with the file of one shared store: read-only, at a place of ours. */
export interface PlanStore {
  readonly name: string;
  readonly folder: PlanPath;
}

/** The git folder of a linked worktree or of a submodule. */
export interface LinkedGitFolders {
  /** HEAD and index. */
  readonly folder: PlanPath;
  /** Refs, objects and config; contains `folder`, or is the same. */
  readonly common: PlanPath;
}
