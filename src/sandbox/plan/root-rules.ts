// Which folders can be the root of a sandbox or a program tree in it, and which never can; and which links to the root are
// repeated in it.
import { guardPath, pathText } from "../../core/authority/axes/path.ts";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import { type PlanningResult, type PlanRefusal, planValue, refusePlan } from "../../core/gate/programs/plan-refusal.ts";
import type { Plan, PlanLink, PlanPath, PlanRoot } from "./plan.ts";
import type { PlanFacts } from "./plan-facts.ts";
import { isAlong, isWithin, OURS, SYSTEM_PATH, temporaryFolder } from "./plan-path.ts";
import { NARROWER, WHOLE_MACHINE } from "./plan-root.ts";
import { TOP_NAMES } from "./start/system.ts";

/** Kernel trees and our own folder: a sandbox has its own in their place. */
const KERNEL: readonly PlanPath[] = [["proc"], ["sys"], ["dev"], OURS];
/** Assembled from single files; a folder below can be a root, the folder itself cannot. */
const MADE: readonly PlanPath[] = [["etc"], ["run"]];

/** Folders that programs search for programs and libraries: a root may lie beside them, or be one of them read-only. */
const SYSTEM: readonly PlanPath[] = [
  ...SYSTEM_PATH,
  ...["lib", "lib32", "lib64", "libx32", "libexec"].flatMap((name) => [[name], ["usr", name], ["usr", "local", name]]),
];

/** Null where the root is allowed. */
export function rootRefused({ path, mode }: PlanRoot, facts: Pick<PlanFacts, "ours" | "program">): PlanRefusal | null {
  const shape = shapeRefused(path);
  if (shape !== null) return shape;
  const own = facts.ours.find((folder) => isWithin(path, folder));
  if (own !== undefined || path.includes(AUTHORITY))
    return refusePlan("self_modification", `${pathText(path)} contains the policy files of agents`, NARROWER);
  if (mode !== "ro" && isWithin(path, facts.program))
    return refusePlan("self_modification", `${pathText(path)} contains ambit's own program`, "root=ro");
  if (mode !== "ro" && SYSTEM.some((folder) => isAlong(path, folder)))
    return refusePlan("scope_violation", `${pathText(path)} contains the system's programs`, "root=ro");
  return null;
}

/** The folder of a project's authority files. */
export const AUTHORITY = ".ambit";

function shapeRefused(path: PlanPath): PlanRefusal | null {
  if (path.length === 0) return refusePlan("scope_violation", WHOLE_MACHINE, NARROWER);
  if (!path.every(isName)) return refusePlan("invalid_input", `${pathText(path)} is not a plain absolute path`);
  if (KERNEL.some((tree) => isAlong(path, tree)) || MADE.some((tree) => isWithin(tree, path)))
    return refusePlan("scope_violation", `${pathText(path)} is replaced by another folder inside a sandbox`, NARROWER);
  return null;
}

function isName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("/") && isPlainText(name);
}

/** Every agent sees program trees, whatever its grants: nothing private may be in them. */
export function runtimeTrees(facts: PlanFacts): PlanningResult<readonly PlanPath[]> {
  for (const tree of facts.runtime) {
    const why = runtimeFault(tree, facts);
    if (why !== null)
      return refusePlan(
        "sandbox_unavailable",
        `\`runtime: ${pathText(tree)}\` in the configuration ${why}`,
        "name the folder of the toolchain itself",
      );
  }
  return planValue(facts.runtime);
}

/** Why a tree cannot be shown; null where it can. */
export function runtimeFault(
  tree: PlanPath,
  { home, ours, protectedPaths }: Pick<PlanFacts, "home" | "ours" | "protectedPaths">,
): string | null {
  if (shapeRefused(tree) !== null) return "cannot be mounted in a sandbox";
  if (home !== null && isWithin(home, tree)) return "is or contains the home folder";
  if (ours.some((folder) => isAlong(folder, tree)) || tree.includes(AUTHORITY)) return "contains ambit's own files";
  if (guardPath(tree, protectedPaths).guarded !== null) return "is protected";
  return protectedPaths.some((path) => couldHold(tree, path)) ? "contains protected paths" : null;
}

/** Whether the pattern may match something below the tree. */
export function couldHold(tree: PlanPath, pattern: PlanPath): boolean {
  return pattern.length > tree.length && tree.every((name, at) => pattern[at] === "*" || pattern[at] === name);
}

/** Beside the trees of the plan: what a sandbox has of its own, and what programs trust. */
const RESERVED: readonly PlanPath[] = [...KERNEL, ...MADE, ["usr"], ...TOP_NAMES.map((name) => [name])];

const linksMax = 16;

/**
 * Other names of the root (`~/work -> /data/work`), so that a path means the same folder inside and outside. Their targets are
 * text of the plan: nothing on the host is followed when the sandbox starts.
 *
 * INVARIANT: a link shows nothing that the plan does not show: it leads to the root, to a folder above it, of which a sandbox has
 * the name alone, or to one inside it. It never has the place of a mount, lies in none, and names nothing protected.
 */
export function withLinks(
  plan: Plan,
  found: readonly PlanLink[],
  facts: Pick<PlanFacts, "ours" | "protectedPaths">,
): Plan {
  const { root, runtime, masked } = plan;
  if (root === null) return plan;
  const taken = [root.path, ...runtime, temporaryFolder(plan), ...RESERVED];
  const links: PlanLink[] = [];
  for (const { path, target } of found) {
    const isFree = ![...taken, ...links.map((one) => one.path)].some((other) => isAlong(path, other));
    if (!isFree || !isAlong(target, root.path) || masked.some((name) => isWithin(target, name))) continue;
    if (path.length === 0 || !path.every(isPlainText) || isProtected(path, facts)) continue;
    if (links.push({ path, target }) === linksMax) break;
  }
  return links.length === 0 ? plan : { ...plan, links };
}

function isProtected(path: PlanPath, { ours, protectedPaths }: Pick<PlanFacts, "ours" | "protectedPaths">): boolean {
  if (path.includes(AUTHORITY) || ours.some((folder) => isWithin(path, folder))) return true;
  return guardPath(path, protectedPaths).guarded !== null;
}
