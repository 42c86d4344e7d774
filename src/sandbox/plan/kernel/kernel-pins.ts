// Kernel files in /proc that belong to the machine's root. In a sandbox that root started, root owns them, and the
// kernel checks no capability for some of them: mounts protect them, in addition to Landlock.
import type { PlanPath } from "../plan.ts";
import type { SystemFacts } from "../start/system.ts";

export interface KernelPin {
  /** Below `PIN_BASE`. */
  readonly path: readonly string[];
  /** readonly: cannot be changed. masked: shows nothing. */
  readonly action: "readonly" | "masked";
}

export const PIN_BASE: PlanPath = ["proc"];

const READONLY: readonly string[] = ["bus", "fs", "irq", "sys", "sysrq-trigger"];
const MASKED: readonly string[] = [
  ...["acpi", "kcore", "key-users", "keys", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats"],
  ...["sched_debug", "scsi", "slabinfo", "timer_list", "vmallocinfo"],
];

/** None for an ordinary user: the modes of these files suffice. */
export function kernelPins({ user }: Pick<SystemFacts, "user">): readonly KernelPin[] {
  if (user.user !== 0) return [];
  return [
    ...READONLY.map((name) => ({ path: [name], action: "readonly" as const })),
    ...MASKED.map((name) => ({ path: [name], action: "masked" as const })),
  ];
}
