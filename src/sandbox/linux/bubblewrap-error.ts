// Maps bubblewrap's error output to a cause and a command that fixes it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SandboxProblem } from "../../core/ports/machine.ts";
import type { RunRefusal } from "../../core/ports/process.ts";
import { unavailable } from "./refusal.ts";

interface Cause {
  readonly pattern: RegExp;
  readonly message: string;
  readonly fix: string | null;
  /** Where this is a container, its engine forbids more than the machine does. Without `fix`, only an engine is the cause. */
  readonly forbidden?: Forbidden;
  /** The machine refuses namespaces or mounts, and will again. */
  readonly isRefusal?: true;
  /** It may not set a host name, and may everything else. */
  readonly isHostname?: true;
}

const APPARMOR = [
  "sudo apt-get install apparmor-profiles",
  "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
  "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict",
].join(" && ");

const NAMESPACES = "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";

/** Docker's default filter refuses namespaces, Podman's does not; both hide parts of /proc, by options with different names. */
const FILTER = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined";
type Engine = "docker" | "podman";
/** What the engine forbids: a /proc alone, or namespaces and mounts. */
type Forbidden = "proc" | "filter";

const OPTIONS: Readonly<Record<Engine, Readonly<Record<Forbidden, string>>>> = {
  docker: {
    proc: `${FILTER} --security-opt systempaths=unconfined`,
    filter: `${FILTER} --security-opt systempaths=unconfined`,
  },
  podman: {
    proc: "--security-opt unmask=ALL --security-opt apparmor=unconfined",
    filter: `${FILTER} --security-opt unmask=ALL`,
  },
};

function containerFix(engine: Engine | null, forbidden: Forbidden): string {
  if (engine !== null) return `start this container with ${OPTIONS[engine][forbidden]}`;
  return `start this container with ${FILTER} and --security-opt systempaths=unconfined (Docker) or unmask=ALL (Podman)`;
}

/** The first match counts. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /RTM_NEWADDR|loopback: .*not permitted|setting up uid map: Permission denied/i,
    message: "AppArmor allows user namespaces only to programs with a profile",
    isRefusal: true,
    fix: APPARMOR,
  },
  {
    pattern: /setting up uid map: Operation not permitted/i,
    message: "root without the capability SETFCAP gets no user namespace",
    isRefusal: true,
    fix: "start this container with --cap-add SETFCAP, or with --user as another user",
  },
  {
    pattern:
      /No permissions to creat\w* (a )?new namespace|new namespace failed|namespaces? .*not (enabled|supported)|setting up uid map/i,
    message: "user namespaces are refused",
    isRefusal: true,
    fix: `${NAMESPACES}   # in a chroot no setting helps: use pivot_root`,
    forbidden: "filter",
  },
  {
    pattern: /Failed to make \/ slave|Failed to mount tmpfs|pivot_root/i,
    message: "this container forbids mounts",
    isRefusal: true,
    fix: null,
    forbidden: "filter",
  },
  {
    pattern: /Can't mount proc/i,
    message: "this container forbids a /proc of its own",
    isRefusal: true,
    fix: null,
    forbidden: "proc",
  },
  {
    pattern: /Can't set hostname/i,
    message: "this container forbids a host name of its own",
    isHostname: true,
    fix: null,
    forbidden: "filter",
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
  readonly isRefusal: boolean;
  readonly isHostname: boolean;
}

/** Null where it printed nothing. */
export function complaintProblem(text: string, engine: Engine | null = engineOf()): BubblewrapProblem | null {
  const line = (text.split("\n", 1)[0] ?? "").trim().slice(0, complaintCharactersMax);
  if (line === "") return null;
  const cause = CAUSES.find(({ pattern }) => pattern.test(line));
  if (cause === undefined)
    return { message: `bubblewrap cannot start: ${line}`, fix: null, isRefusal: false, isHostname: false };
  const { forbidden } = cause;
  const isEngine = forbidden !== undefined && (engine !== null || cause.fix === null);
  const fix = isEngine ? containerFix(engine, forbidden) : cause.fix;
  const { isRefusal = false, isHostname = false } = cause;
  return { message: `${cause.message} (${line})`, fix, isRefusal, isHostname };
}

/** By the file that each leaves in every container; null where there is neither. */
export function engineOf(root = "/"): Engine | null {
  if (existsSync(join(root, "run", ".containerenv"))) return "podman";
  return existsSync(join(root, ".dockerenv")) ? "docker" : null;
}
