// Files of the kernel in /proc that belong to the machine's root. Inside a sandbox that root started they are its own, and
// the kernel asks for no capability at some of them: they are held by mounts, besides Landlock.
import type { PlanPath } from "../plan.ts";
import type { SystemFacts } from "../start/system.ts";

export interface KernelPin {
  /** Below `PIN_BASE`. */
  readonly path: readonly string[];
  /** readonly: stays as it is. masked: nothing is to be seen. */
  readonly action: "readonly" | "masked";
}

export const PIN_BASE: PlanPath = ["proc"];

const READONLY: readonly string[] = ["bus", "fs", "irq", "sys", "sysrq-trigger"];
const MASKED: readonly string[] = [
  ...["acpi", "kcore", "key-users", "keys", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats"],
  ...["sched_debug", "scsi", "slabinfo", "timer_list", "vmallocinfo"],
];

/** None for an ordinary user: the modes of these files are enough. */
export function kernelPins({ user }: Pick<SystemFacts, "user">): readonly KernelPin[] {
  if (user.user !== 0) return [];
  return [
    ...READONLY.map((name) => ({ path: [name], action: "readonly" as const })),
    ...MASKED.map((name) => ({ path: [name], action: "masked" as const })),
  ];
}
