// The plan as set-up frames for the supervisor of a sandbox without namespaces (`native/PROTOCOL.md`). Where there are no mounts, an
// allow-list of real paths is all that keeps files apart: every right of the kernel's Landlock is handled, ports and scopes too.
import { instructionBytes } from "../kernel/bpf.ts";
import { CHANGE, handledAll, type LandlockRule, type LandlockRules, READ, RIGHTS, RUN } from "../kernel/landlock.ts";
import type { Plan, PlanPath } from "../plan.ts";
import { DEVICES } from "../start/bubblewrap.ts";
import { frameOf, PayloadWriter } from "../start/frame.ts";
import { type Encode, landlockFrames, limitFrames, resourcesOf, type StartFacts } from "../start/setup.ts";
import { etcTrees, programTrees, type SystemFacts } from "../start/system.ts";
import type { PrivateFolders } from "./supervised-plan.ts";
import { supervisedProgram } from "./supervised-seccomp.ts";

/** `plan`: in the terms of the private folders. Null where this kernel does not hold enough. */
export function supervisedFrames(
  plan: Plan,
  folders: PrivateFolders,
  system: SystemFacts,
  start: Pick<StartFacts, "landlock" | "treeMemoryHeld">,
  encode: Encode,
): readonly Uint8Array[] | null {
  const landlock = supervisedRules(plan, folders, system, start.landlock);
  if (landlock === null) return null;
  const { architecture } = system;
  const program = supervisedProgram({ architecture, hasNetwork: plan.network !== null });
  return [
    ...landlockFrames(landlock, encode),
    frameOf("S", instructionBytes(program)),
    ...limitFrames(resourcesOf(plan.limits, start)),
    emptied(folders.temporary, encode),
    ...(plan.home === undefined ? [emptied([...folders.temporary, "home"], encode)] : []),
    ...(plan.network === null ? [] : [frameOf("N", new PayloadWriter().u8(0).u16(0).u16(0).done())]),
    frameOf("G", new Uint8Array(0)),
  ];
}

/** On a disk of the machine, so there is no limit of size to check. */
function emptied(path: PlanPath, encode: Encode): Uint8Array {
  return frameOf(
    "D",
    new PayloadWriter()
      .u32(0)
      .text(encode(`/${path.join("/")}`))
      .done(),
  );
}

/** The first version that holds signals and abstract sockets; without it programs could end those of the person. */
const landlockVersionMin = 6;

/** Files of /etc that a sandbox with mounts replaces by ours; here programs see the machine's. */
const REAL_SETTINGS: readonly string[] = ["passwd", "group", "nsswitch.conf", "hosts", "host.conf"];

/**
 * Facts about the machine as a whole that runtimes read at their start. Absent on purpose: everything of a process, which
 * Landlock could not tell from that of another one, and everything of the network.
 */
const KERNEL_FILES: readonly PlanPath[] = [
  ...["meminfo", "cpuinfo", "stat", "loadavg", "uptime", "version", "filesystems"].map((name) => ["proc", name]),
  ...["osrelease", "ostype", "pid_max", "threads-max", "ngroups_max", "cap_last_cap"].map((name) => [
    ...["proc", "sys", "kernel", name],
  ]),
  ...["overcommit_memory", "max_map_count", "mmap_min_addr"].map((name) => ["proc", "sys", "vm", name]),
  ...["file-max", "pipe-max-size", "nr_open"].map((name) => ["proc", "sys", "fs", name]),
  ["sys", "devices", "system", "cpu"],
  ["sys", "kernel", "mm", "transparent_hugepage"],
];

/** `plan`: in the terms of the private folders. Null where the kernel does not hold enough. */
export function supervisedRules(
  plan: Plan,
  folders: PrivateFolders,
  system: SystemFacts,
  version: number,
): LandlockRules | null {
  const handled = version < landlockVersionMin ? null : handledAll(version);
  if (handled === null) return null;
  const { root, runtime, home, stores = [] } = plan;
  const rules: readonly LandlockRule[] = [
    ...[...programTrees(system), ...runtime].map((path) => ({ rights: RUN, path })),
    ...etcTrees(system).map((path) => ({ rights: READ, path })),
    ...REAL_SETTINGS.map((name) => ({ rights: RIGHTS.readFile, path: ["etc", name] })),
    ...KERNEL_FILES.map((path) => ({ rights: READ, path })),
    ...[...DEVICES, "tty"].map((name) => ({
      rights: RIGHTS.readFile | RIGHTS.writeFile | RIGHTS.ioctlDevice,
      path: ["dev", name],
    })),
    { rights: RIGHTS.readFile | RIGHTS.execute, path: system.program },
    { rights: CHANGE, path: folders.temporary },
    { rights: READ, path: folders.settings },
    ...(plan.package === undefined ? [] : [{ rights: RUN, path: plan.package }]),
    ...stores.map(({ folder }) => ({ rights: READ, path: folder })),
    ...(home === undefined ? [] : [{ rights: CHANGE, path: home }]),
    ...(root === null ? [] : [{ rights: root.mode === "ro" ? RUN : CHANGE, path: root.path }]),
  ];
  return { handled, rules: rules.map(({ rights, path }) => ({ rights: rights & handled.files, path })) };
}
