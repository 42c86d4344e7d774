// Facts about the machine, as far as they can be determined. An undetermined fact is "unknown".

export type Fact<T> = T | "unknown";

export interface MachineFacts {
  /** As Node names it: linux, darwin, win32. */
  readonly platform: string;
  /** `ID` followed by `ID_LIKE` of the distribution: ["linuxmint", "ubuntu", "debian"]. */
  readonly distribution: Fact<readonly string[]>;
  /** Version of bubblewrap; null if it is not installed. */
  readonly bubblewrap: Fact<string | null>;
  /** Whether a test run of bubblewrap could make namespaces and mount what every sandbox mounts. */
  readonly sandboxStarts: Fact<boolean>;
  /** Why it could not, as a refused program is told; null if it could, or said nothing. */
  readonly sandboxProblem: SandboxProblem | null;
  /** Whether unprivileged users may create user namespaces. */
  readonly userNamespaces: Fact<boolean>;
  /** Whether AppArmor blocks unconfined programs from using them. */
  readonly appArmorRestricts: Fact<boolean>;
  /** The kernel's Landlock ABI version; null if it has none. */
  readonly landlock: Fact<number | null>;
  /** Kernel features as reported by the native program; null if it is not built or does not run. */
  readonly native: Fact<NativeFacts | null>;
  /** The file system of the state folder if it cannot store drafts; null if it can. */
  readonly draftsRefusedBy: Fact<string | null>;
  /** Which limits can apply to a whole process tree. */
  readonly controlGroups: Fact<readonly ("memory" | "processes")[]>;
  /** `$HOME` where it is not the home folder of this user, and so has no effect; null otherwise. */
  readonly ignoredHome: string | null;
  /** Why there can be no state in the state folder; null if there can be, or if that was not probed. */
  readonly stateProblem: StateProblem | null;
  /** An engine started this machine as a container. */
  readonly isContainer: boolean;
  /** The user's configuration accepts no sandbox without namespaces. */
  readonly requiresNamespaces?: boolean;
  /** Some per-process limits do not apply to root. */
  readonly isRoot: boolean;
}

export type StateProblem =
  /** Neither a home folder nor a variable names one. */
  { readonly kind: "unnamed" } | { readonly kind: "unwritable"; readonly folder: string };

export interface SandboxProblem {
  readonly message: string;
  /** What to change; null if that is not known. */
  readonly fix: string | null;
  /** The machine refuses namespaces or mounts, and will again: sandboxes without namespaces are used where they can be. */
  readonly isRefusal: boolean;
}

/** Determined by probing, not by version. */
export interface NativeFacts {
  /** Every name and port a program tries is visible, not only the listed ones. */
  readonly transparent: boolean;
  /** Mounts by file descriptor, which pins need. */
  readonly descriptorMounts: boolean;
  readonly seccomp: boolean;
  /** An overlay in a user namespace, which drafts need. */
  readonly overlay: boolean;
  /** A sandbox without namespaces: Landlock that holds signals, and calls that are handed over. */
  readonly supervised: boolean;
  /** What our own program could make, which a container's filter decides. */
  readonly userNamespaces: boolean;
}
