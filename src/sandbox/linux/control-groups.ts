// Limits for a whole process tree, where the kernel lets us create control groups: one group for each sandbox.

import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorCode } from "../../core/base/error-code.ts";
import { ownIdentity, type ProcessIdentity, stateOf } from "../../platform/daemon/process-identity.ts";
import type { Limits } from "../plan/plan.ts";
import type { GroupFolder, GroupLimit } from "./group-folders.ts";

export interface ControlGroup {
  /** The limits this group has. */
  readonly holds: readonly GroupLimit[];
  /** Resolves when the process is in the group; its children are, too. False where the kernel refused. */
  add(pid: number): Promise<boolean>;
  /** Called after the last process ended. False: a process may still be in it. */
  remove(): Promise<boolean>;
}

const PREFIX = "ambit";
/** In the group, and not the agent's: pid 1 of the sandbox. */
const ownProcesses = 1;

export class ControlGroups {
  readonly #folders: readonly GroupFolder[];
  readonly #name: string;
  #count = 0;

  constructor(places: readonly GroupFolder[]) {
    this.#folders = places;
    this.#name = nameOf(ownIdentity());
    for (const { folder } of places) reap(folder);
  }

  /** Null where none can be created. */
  make(limits: Pick<Limits, "treeMemoryBytes" | "processes">): ControlGroup | null {
    const name = `${this.#name}-${this.#count++}`;
    const made = this.#folders.filter((place) => makeOne(place, name, limits));
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
  { folder, version, holds }: GroupFolder,
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
      // Without a swap limit, the memory limit would only be where swapping starts. Not every kernel counts swap.
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

/** Takes the kernel some milliseconds, so it is asynchronous. */
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

/** A process that has just ended remains in its group for a moment. What remains is removed at the next start. */
async function removed(folder: string): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      await rmdir(folder);
      return true;
    } catch (error) {
      if (errorCode(error) !== "EBUSY") return errorCode(error) === "ENOENT";
      await pause(tryMilliseconds);
    }
  }
  return false;
}

/** Pids are valid in one namespace: groups created from another one are left alone. */
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

/** Groups whose daemon was killed. Their processes ended with it; any that remain are killed here. */
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
      // Another process removed it first, or it is still busy: the next start tries again.
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
