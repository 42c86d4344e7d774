// What a machine says about itself, as far as it can be asked. What could not be found out is a fact too: "unknown".

export type Fact<T> = T | "unknown";

export interface MachineFacts {
  /** As Node names it: linux, darwin, win32. */
  readonly platform: string;
  /** `ID` and then `ID_LIKE` of the distribution: ["linuxmint", "ubuntu", "debian"]. */
  readonly distribution: Fact<readonly string[]>;
  /** The version of bubblewrap, or null where there is none. */
  readonly bubblewrap: Fact<string | null>;
  /** Whether bubblewrap could start a process in namespaces of its own when it was tried. */
  readonly sandboxStarts: Fact<boolean>;
  /** Whether somebody who is not root may make user namespaces. */
  readonly userNamespaces: Fact<boolean>;
  /** Whether AppArmor keeps programs without a profile from using them. */
  readonly appArmorRestricts: Fact<boolean>;
  /** The version of Landlock this kernel speaks, or null where it has none. */
  readonly landlock: Fact<number | null>;
  /** What our own native program says of the kernel; null where it is not built or does not run. */
  readonly native: Fact<NativeFacts | null>;
  /** The file system of the state folder, where no draft can be kept on it; null where one can. */
  readonly draftsRefusedBy: Fact<string | null>;
  /** What we can limit for a whole tree of processes. */
  readonly controlGroups: Fact<readonly ("memory" | "processes")[]>;
  /** Some limits of single processes do not hold for root. */
  readonly isRoot: boolean;
}

/** Asked by trying, not by version. */
export interface NativeFacts {
  /** Every name and port a program tries can be seen, not only those that are listed. */
  readonly transparent: boolean;
  /** Mounts by descriptor, which pins are made of. */
  readonly descriptorMounts: boolean;
  readonly seccomp: boolean;
  /** An overlay in a user namespace, which drafts are made of. */
  readonly overlay: boolean;
}
