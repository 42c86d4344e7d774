// Files of the kernel in /proc that belong to the machine's root. Inside a sandbox that root started they are its own, and
// the kernel asks for no capability at some of them: they are held by mounts, besides Landlock.
import type { PinBase } from "./plan.ts";
import type { SystemFacts } from "./system.ts";

const READONLY: readonly string[] = ["bus", "fs", "irq", "sys", "sysrq-trigger"];
const MASKED: readonly string[] = [
  ...["acpi", "kcore", "key-users", "keys", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats"],
  ...["sched_debug", "scsi", "slabinfo", "timer_list", "vmallocinfo"],
];

/** Nothing for anybody else, whom the modes of these files keep out. */
export function kernelPins({ user }: Pick<SystemFacts, "user">): readonly PinBase[] {
  if (user.user !== 0) return [];
  return [
    {
      base: ["proc"],
      pins: [
        ...READONLY.map((name) => ({ path: [name], action: "readonly" as const, absent: "leave" as const })),
        ...MASKED.map((name) => ({ path: [name], action: "masked" as const, absent: "leave" as const })),
      ],
    },
  ];
}
