// The memory of an idle warm sandbox: its processes, each page divided by the number of processes that share it.
import { readdirSync, readFileSync } from "node:fs";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Row } from "../row.ts";
import { newOwner, OURS, runInside } from "./ambit.ts";
import type { Planned } from "./fixture.ts";

export const IDLE = "memory of an idle sandbox";

/** Null if the kernel does not say: only root, and users who may trace the process, can read it. */
export async function measureMemory(sandboxes: LinuxSandboxes, planned: Planned): Promise<Row | null> {
  const owner = newOwner();
  const before = new Set(descendants());
  await runInside(sandboxes, owner, planned, ["/usr/bin/true"]);
  const its = descendants().filter((pid) => !before.has(pid));
  if (its.length === 0) throw new Error("the warm sandbox has no process");
  const sizes = its.map(proportionalBytes);
  await sandboxes.end(owner.agent);
  if (sizes.some((size) => size === null)) return null;
  const value = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return { subject: OURS, case: IDLE, value, unit: "bytes" };
}

/** Every process below this one. */
export function descendants(): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const parent = parentOf(Number(name));
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  const open = [process.pid];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const below = children.get(pid) ?? [];
    found.push(...below);
    open.push(...below);
  }
  return found;
}

export function proportionalBytes(pid: number): number | null {
  try {
    const found = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
    return found === null ? null : Number(found[1]) * 1024;
  } catch {
    return null;
  }
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}
