// The plan as Landlock rules: every right of the kernel's version is handled, and granted back tree by tree. It
// enforces the mounts a second time, and /proc, which mounts cannot restrict.

import type { Plan, PlanPath } from "../plan.ts";
import { homeFolder, PACKAGE_FOLDER, PROGRAM, storeFolder, temporaryFolder } from "../plan-path.ts";
import { CONTROLLING_TERMINAL, DEVICES, TERMINALS } from "../start/bubblewrap.ts";
import { programTrees, type SystemFacts } from "../start/system.ts";

/** Bits of the kernel's interface, `linux/landlock.h`. */
const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const MAKE_SOCK = 1n << 9n;
const MAKE_FIFO = 1n << 10n;
const MAKE_SYM = 1n << 12n;
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;

export const READ: bigint = READ_FILE | READ_DIR;
export const RUN: bigint = READ | EXECUTE;
/** Absent on purpose: device nodes, and sockets, which only the private folder may hold: no host process looks there. */
export const CHANGE: bigint =
  RUN | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER;

/** Single rights, for rules that are made elsewhere. */
export const RIGHTS: Readonly<Record<"execute" | "readFile" | "writeFile" | "ioctlDevice", bigint>> = {
  execute: EXECUTE,
  readFile: READ_FILE,
  writeFile: WRITE_FILE,
  ioctlDevice: IOCTL_DEV,
};

export interface LandlockHandled {
  readonly files: bigint;
  readonly network: bigint;
  readonly scopes: bigint;
}

export interface LandlockRule {
  readonly rights: bigint;
  readonly path: PlanPath;
}

export interface LandlockRules {
  readonly handled: LandlockHandled;
  readonly rules: readonly LandlockRule[];
}

/** The newest version of these tables; on a newer kernel this version is requested. */
const VERSION_MAX = 7;

/** By version: rights over files, over TCP ports, and scopes (abstract sockets, signals). */
function knownRights(version: number): LandlockHandled {
  return {
    files: version >= 5 ? 0xffffn : version >= 3 ? 0x7fffn : version >= 2 ? 0x3fffn : 0x1fffn,
    network: version >= 4 ? 0b11n : 0n,
    scopes: version >= 6 ? 0b11n : 0n,
  };
}

/**
 * Rights over files and scopes. Ports are not handled: a separate network namespace covers them, and programs may talk
 * to each other over its loopback.
 */
export function handledRights(version: number): LandlockHandled | null {
  return version < 1 ? null : { ...knownRights(Math.min(version, VERSION_MAX)), network: 0n };
}

/** For a process that needs no network and has no namespace of its own: no port may be bound or connected to. */
export function handledAll(version: number): LandlockHandled | null {
  return version < 1 ? null : knownRights(Math.min(version, VERSION_MAX));
}

const TERMINAL_RULES: readonly LandlockRule[] = [
  { rights: READ | WRITE_FILE | IOCTL_DEV, path: TERMINALS },
  { rights: READ_FILE | WRITE_FILE | IOCTL_DEV, path: CONTROLLING_TERMINAL },
];

/** Null where the kernel has no Landlock. */
export function landlockRules(plan: Plan, system: SystemFacts, version: number): LandlockRules | null {
  const handled = handledRights(version);
  if (handled === null) return null;
  const { root, runtime } = plan;
  const rules: readonly LandlockRule[] = [
    // What is not mounted does not exist: the names of what is mounted may be listed.
    { rights: READ_DIR, path: [] },
    ...[...programTrees(system), ...runtime].map((path) => ({ rights: RUN, path })),
    { rights: READ, path: ["etc"] },
    { rights: READ, path: ["proc"] },
    ...DEVICES.map((name) => ({ rights: READ_FILE | WRITE_FILE | IOCTL_DEV, path: ["dev", name] })),
    ...(plan.hasTerminals === true ? TERMINAL_RULES : []),
    { rights: READ_FILE | EXECUTE, path: PROGRAM },
    { rights: CHANGE | MAKE_SOCK, path: temporaryFolder(plan) },
    ...(plan.home === undefined ? [] : [{ rights: CHANGE, path: homeFolder(plan) }]),
    ...(plan.package === undefined ? [] : [{ rights: RUN, path: PACKAGE_FOLDER }]),
    ...(plan.stores ?? []).map(({ name }) => ({ rights: READ, path: storeFolder(name) })),
    ...(root === null ? [] : [{ rights: root.mode === "ro" ? RUN : CHANGE, path: root.path }]),
  ];
  return { handled, rules: rules.map(({ rights, path }) => ({ rights: rights & handled.files, path })) };
}
