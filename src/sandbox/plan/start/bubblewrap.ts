// The plan as arguments of bubblewrap: an allow-list of mounts, separate namespaces, our program as pid 1.

import { DRAFT_LAYER, LAYERS, LOWER_LAYER, rootOverlay } from "../overlay.ts";
import type { Plan, PlanPath } from "../plan.ts";
import {
  ASKING,
  homeFolder,
  isWithin,
  OURS,
  PACKAGE_FOLDER,
  PROGRAM,
  storeFolder,
  temporaryFolder,
} from "../plan-path.ts";
import { HOSTNAME, ownFiles } from "./etc.ts";
import { etcTrees, programTrees, type SystemFacts, topLinks } from "./system.ts";

export interface BubblewrapCommand {
  /** Without the name of the program. */
  readonly argv: readonly string[];
  /** Content to be read from these descriptors. */
  readonly data: readonly { readonly fd: number; readonly bytes: Uint8Array }[];
}

/** Descriptors of the program itself: the control socket, and the network's sockets. */
export const CONTROL_FD = 3;
export const HANDLES_FD = 4;
const DATA_FD = 5;

/** Device nodes a program may expect; none gives access to the machine. */
export const DEVICES: readonly string[] = ["null", "zero", "full", "random", "urandom"];

/** Where pid 1 mounts the terminals. */
export const TERMINALS: PlanPath = ["dev", "pts"];
export const CONTROLLING_TERMINAL: PlanPath = ["dev", "tty"];

export function bubblewrapCommand(
  plan: Plan,
  system: SystemFacts,
  encode: (text: string) => Uint8Array,
  /** The folder of the draft on the host; null where the root is none. */
  draft: string | null,
): BubblewrapCommand {
  const files = ownFiles(plan, system, homeFolder(plan));
  const data = files.map(({ text }, at) => ({ fd: DATA_FD + at, bytes: encode(text) }));
  const own = files.map(
    ({ path }, at): Mount => ({ path, words: ["--perms", "0444", "--file", String(DATA_FD + at), pathOf(path)] }),
  );
  const mounts = [
    ...systemMounts(plan, system),
    ...own,
    ...treeMounts(plan, system),
    ...homeMounts(plan),
    ...storeMounts(plan),
    ...packageMounts(plan),
    ...rootMounts(plan, system, draft),
    ...(plan.links ?? []).map(({ path, target }) => symlink(path, pathOf(target))),
  ];
  const argv = [
    ...START,
    ...(system.keepsHostname === true ? [] : ["--hostname", HOSTNAME]),
    ...capabilities(plan).flatMap((name) => ["--cap-add", name]),
    // A parent comes before its mounts; otherwise the order is kept.
    ...mounts.sort((left, right) => left.path.length - right.path.length).flatMap(({ words }) => words),
    // The two file systems that bubblewrap creates itself are made read-only.
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--chdir", "/", "--", pathOf(PROGRAM), "sandbox", String(CONTROL_FD)],
    plan.network === null ? "-" : String(HANDLES_FD),
  ];
  return { argv, data };
}

/**
 * Absent on purpose: `--die-with-parent`. A bubblewrap that is killed with its parent before it lets its child continue
 * leaves that child waiting forever; instead, end of file on the control descriptor ends our program, and everything
 * with it.
 */
const START: readonly string[] = [
  "--unshare-all",
  "--as-pid-1",
  "--new-session",
  "--clearenv",
  ...["--cap-drop", "ALL"],
];

/**
 * Capabilities in the sandbox's own user namespace, for the set-up only; our program drops them all, including the
 * bounding set (SETPCAP), before it runs anything. Pins and overlays are mounts (SYS_ADMIN); the work folder of an
 * overlay has mode 000 (DAC_OVERRIDE); routes and low ports (NET_ADMIN, NET_BIND_SERVICE) only with a network; a user
 * namespace below this one, in which root is root, is where a devpts is made (SETFCAP).
 */
function capabilities(plan: Plan): readonly string[] {
  return [
    ...["CAP_SYS_ADMIN", "CAP_SETPCAP"],
    ...(rootOverlay(plan) === null ? [] : ["CAP_DAC_OVERRIDE"]),
    ...(plan.hasTerminals === true ? ["CAP_SETFCAP"] : []),
    ...(plan.network === null ? [] : ["CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE"]),
  ];
}

interface Mount {
  readonly path: PlanPath;
  readonly words: readonly string[];
}

/** Mounts of every sandbox. What the root shows anyway is left out: nothing is ever mounted below the root. */
function systemMounts(plan: Plan, system: SystemFacts): Mount[] {
  const temporary = temporaryFolder(plan);
  const shown = plan.root?.path ?? null;
  const mounts: Mount[] = [
    ...programTrees(system).map((path) => bind("--ro-bind", path)),
    ...topLinks(system).map(({ name, link }) => symlink([name], link)),
    ...etcTrees(system).map((path) => bind("--ro-bind-try", path)),
    // A link is cheaper than a mount, and every distribution has it at this path.
    symlink(["etc", "os-release"], "/usr/lib/os-release"),
    { path: ["proc"], words: ["--proc", "/proc"] },
    ...devices(temporary),
    ...(plan.hasTerminals === true ? terminalDevices() : []),
    ...(isWithin(temporary, OURS) ? [{ path: ["tmp"], words: ["--dir", "/tmp"] }] : []),
    {
      path: temporary,
      words: ["--perms", "0700", "--size", String(plan.limits.temporaryBytes), "--tmpfs", pathOf(temporary)],
    },
    { path: PROGRAM, words: ["--ro-bind", pathOf(system.program), pathOf(PROGRAM)] },
    ...(plan.network?.relay === undefined ? [] : [symlink([...ASKING, "ambit"], pathOf(PROGRAM))]),
  ];
  return mounts.filter(({ path }) => shown === null || !isWithin(path, shown));
}

/**
 * Not `--dev`: it adds terminals, and for a caller who is not root a second user namespace with too few capabilities.
 */
function devices(temporary: PlanPath): Mount[] {
  const at = (name: string): PlanPath => ["dev", name];
  return [
    { path: ["dev"], words: ["--perms", "0755", "--tmpfs", "/dev"] },
    ...DEVICES.map((name) => bind("--dev-bind", at(name))),
    symlink(at("fd"), "/proc/self/fd"),
    symlink(at("stdin"), "/proc/self/fd/0"),
    symlink(at("stdout"), "/proc/self/fd/1"),
    symlink(at("stderr"), "/proc/self/fd/2"),
    symlink(at("shm"), pathOf(temporary)),
  ];
}

/**
 * An empty folder, on which pid 1 mounts a devpts instance of the sandbox's own, and the device that opens the
 * controlling terminal of its caller, which is one of that instance or none.
 */
function terminalDevices(): Mount[] {
  return [
    { path: TERMINALS, words: ["--dir", "/dev/pts"] },
    symlink(["dev", "ptmx"], "pts/ptmx"),
    bind("--dev-bind-try", CONTROLLING_TERMINAL),
  ];
}

/** The program trees outside the root; one below the root is part of it. */
function treeMounts({ root, runtime }: Plan, system: SystemFacts): Mount[] {
  const around = [...programTrees(system), ...(root === null ? [] : [root.path])];
  const trees = runtime.filter((tree, at) => {
    const others = runtime.filter((other, place) => place !== at && (other.length < tree.length || place < at));
    return ![...around, ...others].some((other) => isWithin(tree, other));
  });
  return trees.map((tree) => bind("--ro-bind", tree));
}

/** The home of a client, in our own folder: no root and no program tree can be there. */
function homeMounts(plan: Plan): Mount[] {
  const path = homeFolder(plan);
  return plan.home === undefined ? [] : [{ path, words: ["--bind", pathOf(plan.home), pathOf(path)] }];
}

/** Read-only, in our own folder: no program changes a store. */
function storeMounts({ stores }: Plan): Mount[] {
  return (stores ?? []).map(({ name, folder }) => {
    const path = storeFolder(name);
    return { path, words: ["--ro-bind", pathOf(folder), pathOf(path)] };
  });
}

/** Read-only, in our own folder, whatever its modes say. */
function packageMounts(plan: Plan): Mount[] {
  const path = PACKAGE_FOLDER;
  return plan.package === undefined ? [] : [{ path, words: ["--ro-bind", pathOf(plan.package), pathOf(path)] }];
}

/** The root itself, or the layers and the empty mount point for pid 1's overlay. */
function rootMounts(plan: Plan, system: SystemFacts, draft: string | null): Mount[] {
  const { root } = plan;
  if (root === null) return [];
  const overlay = rootOverlay(plan);
  if (root.mode === "live") {
    if (root.copy === undefined) throw new Error("a live root needs a copy");
    return [{ path: root.path, words: ["--bind", pathOf(root.copy.path), pathOf(root.path)] }];
  }
  if (overlay === null) return [bind(root.mode === "direct" ? "--bind" : "--ro-bind", root.path)];
  if ((overlay === "draft") !== (draft !== null))
    throw new Error("only a draft root has a draft folder, and it needs one");
  return [
    // Our program may need its libraries before the overlay is mounted.
    programTrees(system).some((tree) => isWithin(tree, root.path))
      ? bind("--ro-bind", root.path)
      : { path: root.path, words: ["--dir", pathOf(root.path)] },
    { path: LAYERS, words: ["--perms", "0700", "--tmpfs", pathOf(LAYERS)] },
    { path: LOWER_LAYER, words: ["--ro-bind", pathOf(root.path), pathOf(LOWER_LAYER)] },
    ...(draft === null ? [] : [{ path: DRAFT_LAYER, words: ["--bind", draft, pathOf(DRAFT_LAYER)] }]),
  ];
}

/** At the same path as on the host. */
function bind(word: "--bind" | "--ro-bind" | "--ro-bind-try" | "--dev-bind" | "--dev-bind-try", path: PlanPath): Mount {
  return { path, words: [word, pathOf(path), pathOf(path)] };
}

function symlink(path: PlanPath, target: string): Mount {
  return { path, words: ["--symlink", target, pathOf(path)] };
}

function pathOf(path: PlanPath): string {
  return `/${path.join("/")}`;
}
