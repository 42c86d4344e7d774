// Paths inside a sandbox and their containment. Paths are segments: nothing here accesses a disk.
import type { Plan, PlanPath } from "./plan.ts";

/** The folder with our own files in a sandbox. */
export const OURS: PlanPath = ["run", "ambit"];
export const PROGRAM: PlanPath = [...OURS, "ambit-native"];

/** The folder with the shared stores that the agent may read. */
export const STORES: PlanPath = [...OURS, "stores"];

export function storeFolder(name: string): PlanPath {
  return [...STORES, name];
}

/** The folder with the package of an MCP server. */
export const PACKAGE_FOLDER: PlanPath = [...OURS, "package"];

/** Tells programs where the stores are. */
export const STORES_VARIABLE: readonly [string, string] = ["AMBIT_STORES", `/${STORES.join("/")}`];

/** The folder with `ambit` for programs that may ask their session. */
export const ASKING: PlanPath = [...OURS, "bin"];

/** The default search path for programs, beside the trees a configuration adds. */
export const SYSTEM_PATH: readonly PlanPath[] = [
  ["usr", "local", "sbin"],
  ["usr", "local", "bin"],
  ["usr", "sbin"],
  ["usr", "bin"],
  ["sbin"],
  ["bin"],
];

/** Where a home that stays is, inside. */
const KEPT_HOME: PlanPath = [...OURS, "home"];
const TEMPORARY: PlanPath = ["tmp"];
const TEMPORARY_ASIDE: PlanPath = [...OURS, "tmp"];

/** At `base` or below it. */
export function isWithin(path: PlanPath, base: PlanPath): boolean {
  return base.length <= path.length && base.every((name, at) => name === path[at]);
}

/** One of the two contains the other, or they are the same. */
export function isAlong(left: PlanPath, right: PlanPath): boolean {
  return isWithin(left, right) || isWithin(right, left);
}

/**
 * The private folder that is emptied after every command. `/tmp`, unless a host tree overlaps it: nothing of the host
 * may be mounted in a folder that is emptied.
 */
export function temporaryFolder(plan: Pick<Plan, "root" | "runtime">): PlanPath {
  const trees = [...(plan.root === null ? [] : [plan.root.path]), ...plan.runtime];
  return trees.some((tree) => isAlong(tree, TEMPORARY)) ? TEMPORARY_ASIDE : TEMPORARY;
}

export function homeFolder(plan: Pick<Plan, "root" | "runtime" | "home">): PlanPath {
  return plan.home === undefined ? [...temporaryFolder(plan), "home"] : KEPT_HOME;
}

export function isSame(left: PlanPath, right: PlanPath): boolean {
  return left.length === right.length && isWithin(left, right);
}
