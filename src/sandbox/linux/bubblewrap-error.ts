// Maps bubblewrap's error output to a cause and a command that fixes it.
import { existsSync } from "node:fs";
import type { SandboxProblem } from "../../core/ports/machine.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import { unavailable } from "./refusal.ts";

interface Cause {
  readonly pattern: RegExp;
  readonly message: string;
  readonly fix: string | null;
  /** What to change where this is a container: its engine forbids more than the machine does. */
  readonly inContainer?: string;
  /** The machine refuses namespaces or mounts, and will again. */
  readonly isRefusal?: true;
}

const APPARMOR = [
  "sudo apt-get install apparmor-profiles",
  "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
  "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict",
].join(" && ");

const NAMESPACES = "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";

/** Docker and Podman name the parts of /proc that they hide by different options. */
const CONTAINER =
  "start this container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined and systempaths=unconfined (Docker) or unmask=ALL (Podman)";

/** The first match counts. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /RTM_NEWADDR|loopback: .*not permitted|setting up uid map: Permission denied/i,
    message: "AppArmor allows user namespaces only to programs with a profile",
    isRefusal: true,
    fix: APPARMOR,
  },
  {
    pattern:
      /No permissions to creat\w* (a )?new namespace|new namespace failed|namespaces? .*not (enabled|supported)|setting up uid map/i,
    message: "user namespaces are refused",
    isRefusal: true,
    fix: `${NAMESPACES}   # in a chroot no setting helps: use pivot_root`,
    inContainer: CONTAINER,
  },
  {
    pattern: /Failed to make \/ slave|Failed to mount tmpfs|pivot_root/i,
    message: "this container forbids mounts",
    isRefusal: true,
    fix: CONTAINER,
  },
  {
    pattern: /Can't mount proc/i,
    message: "this container forbids a /proc of its own",
    isRefusal: true,
    fix: CONTAINER,
  },
  {
    pattern: /Unknown option/i,
    message: "this bubblewrap is too old",
    fix: "install bubblewrap 0.8 or later",
  },
  {
    pattern: /Can't find source path/i,
    message: "a folder to mount in the sandbox no longer exists",
    fix: null,
  },
  {
    pattern: /Function not implemented|Invalid argument/i,
    message: "this kernel is too old",
    fix: "a kernel of 5.12 or later",
  },
  {
    pattern: /Resource temporarily unavailable|Cannot allocate memory|No space left/i,
    message: "this machine has no processes, memory or namespaces left",
    fix: null,
  },
];

const complaintCharactersMax = 300;

/** `text`: what it printed before it exited; only the first line is used. */
export function complaintRefusal(text: string): RunRefusal {
  const { message, fix } = complaintProblem(text) ?? { message: "the sandbox exited before it was ready", fix: null };
  return unavailable(message, fix);
}

export interface BubblewrapProblem extends SandboxProblem {
  /** The machine refuses namespaces or mounts, and will again. */
  readonly isRefusal: boolean;
}

/** Null where it printed nothing. */
export function complaintProblem(text: string, isContainer: boolean = isInContainer()): BubblewrapProblem | null {
  const line = (text.split("\n", 1)[0] ?? "").trim().slice(0, complaintCharactersMax);
  if (line === "") return null;
  const cause = CAUSES.find(({ pattern }) => pattern.test(line));
  if (cause === undefined) return { message: `bubblewrap cannot start: ${line}`, fix: null, isRefusal: false };
  const fix = isContainer ? (cause.inContainer ?? cause.fix) : cause.fix;
  return { message: `${cause.message} (${line})`, fix, isRefusal: cause.isRefusal === true };
}

/** The files that Docker and Podman leave in every container. */
function isInContainer(): boolean {
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv");
}
