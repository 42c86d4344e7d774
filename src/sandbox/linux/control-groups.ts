// Limits for a whole tree of processes, where the kernel lets us make control groups: one group a sandbox.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ownIdentity, type ProcessIdentity, stateOf } from "../../platform/daemon/process-identity.ts";
import type { Limits } from "../plan/plan.ts";
import type { GroupPlace, Held } from "./group-places.ts";
import { codeOf } from "./refusal.ts";

export interface ControlGroup {
  /** What it limits, now that it is made. */
  readonly holds: readonly Held[];
  /** Kept when the process is in; what it starts is in, too. False where the kernel would not have it. */
  add(pid: number): Promise<boolean>;
  /** After its last process. False: a process may still be in it. */
  remove(): Promise<boolean>;
}

const PREFIX = "ambit";
/** bubblewrap waits outside, our program inside: that one is no process of the agent's. */
const ownProcesses = 1;

export class ControlGroups {
  readonly #places: readonly GroupPlace[];
  readonly #name: string;
  #count = 0;

  constructor(places: readonly GroupPlace[]) {
    this.#places = places;
    this.#name = nameOf(ownIdentity());
    for (const { folder } of places) reap(folder);
  }

  /** Null where none can be made. */
  make(limits: Pick<Limits, "treeMemoryBytes" | "processes">): ControlGroup | null {
    const name = `${this.#name}-${this.#count++}`;
    const made = this.#places.filter((place) => makeOne(place, name, limits));
    if (made.length === 0) return null;
    const folders = made.map(({ folder }) => join(folder, name));
    return {
      holds: made.flatMap(({ holds }) => holds),
      add: async (pid) => (await Promise.all(folders.map((folder) => added(folder, pid)))).every((one) => one),
      remove: async () => (await Promise.all(folders.map(removed))).every((one) => one),
    };
  }
}

function makeOne(
  { folder, version, holds }: GroupPlace,
  name: string,
  limits: Pick<Limits, "treeMemoryBytes" | "processes">,
): boolean {
  const group = join(folder, name);
  try {
    mkdirSync(group);
  } catch {
    return false;
  }
  try {
    if (holds.includes("processes")) writeFileSync(join(group, "pids.max"), String(limits.processes + ownProcesses));
    if (holds.includes("memory")) {
      writeFileSync(
        join(group, version === 2 ? "memory.max" : "memory.limit_in_bytes"),
        String(limits.treeMemoryBytes),
      );
      // Otherwise the limit would only be where swapping starts. Not every kernel counts swap.
      const swap =
        version === 2 ? ["memory.swap.max", "0"] : ["memory.memsw.limit_in_bytes", `${limits.treeMemoryBytes}`];
      if (readdirSync(group).includes(swap[0] as string))
        writeFileSync(join(group, swap[0] as string), swap[1] as string);
    }
    return true;
  } catch {
    rmdirSync(group);
    return false;
  }
}

/** Takes the kernel some milliseconds, so nothing of ours waits in line for it. */
async function added(folder: string, pid: number): Promise<boolean> {
  try {
    await writeFile(join(folder, "cgroup.procs"), String(pid));
    return true;
  } catch {
    return false;
  }
}

const triesMax = 50;
const tryMilliseconds = 10;

/** A process that has just ended is in its group for a moment longer. What stays is removed at the next start. */
async function removed(folder: string): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      await rmdir(folder);
      return true;
    } catch (error) {
      if (codeOf(error) !== "EBUSY") return codeOf(error) === "ENOENT";
      await pause(tryMilliseconds);
    }
  }
  return false;
}

/** Numbers of processes count in a namespace: what was made from another one is not ours to judge. */
function nameOf({ pid, start }: ProcessIdentity): string {
  return `${PREFIX}-${namespaceNumber()}-${pid}-${start ?? 0}`;
}

function namespaceNumber(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

/** Groups whose owner was killed. Their processes ended with it; one that has not is ended here. */
function reap(folder: string): void {
  const here = namespaceNumber();
  const own = ownIdentity();
  for (const name of namesIn(folder)) {
    const [, namespace, pid, start] = /^ambit-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
    if (namespace !== here || pid === undefined || start === undefined) continue;
    if (stateOf({ pid: Number(pid), start, where: own.where }) !== "gone") continue;
    const group = join(folder, name);
    try {
      for (const left of processesIn(group)) process.kill(left, "SIGKILL");
      rmdirSync(group);
    } catch {
      // Somebody else was quicker, or it takes another moment: the next start tries again.
    }
  }
}

function processesIn(group: string): readonly number[] {
  return readFileSync(join(group, "cgroup.procs"), "utf8")
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
