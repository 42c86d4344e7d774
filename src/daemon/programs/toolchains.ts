// The person's toolchains on the search path that came with a session: which of them a client is shown, in the same order.
import { statSync } from "node:fs";
import { type Toolchain, toolchainAt } from "../../clients/toolchains.ts";
import type { WrittenPrograms } from "../../core/notation/config/run-settings.ts";
import { segmentsOf } from "../../platform/folders.ts";
import { realRoot } from "../../platform/real-path.ts";
import type { PlanPath } from "../../sandbox/plan/plan.ts";
import type { PlanFacts } from "../../sandbox/plan/plan-facts.ts";
import { isSame, isWithin } from "../../sandbox/plan/plan-path.ts";
import { runtimeFault } from "../../sandbox/plan/root-rules.ts";
import type { RunEnvironment } from "./run-plan.ts";

const foldersMax = 64;

export interface ClientToolchains {
  /** Read-only trees. */
  readonly trees: readonly PlanPath[];
  /** Folders of the search path, in the person's order; system folders among them. */
  readonly folders: readonly PlanPath[];
  readonly variables: Toolchain["variables"];
  /** For a person: each folder that is not the system's, and what it is. */
  readonly names: readonly { readonly name: string; readonly folder: PlanPath }[];
  /** Folders of the search path that are not inside. */
  readonly left: readonly PlanPath[];
}

export const NO_TOOLCHAINS: ClientToolchains = { trees: [], folders: [], variables: [], names: [], left: [] };

const SYSTEM: readonly PlanPath[] = [["usr"], ["bin"], ["sbin"]];

/** With the facts of this machine. */
export function toolchainsOf({ home, folders, pathSettings, user }: RunEnvironment, path: string): ClientToolchains {
  const ours = [folders.state, folders.config].flatMap((one) => (one === null ? [] : [segmentsOf(one)]));
  const real = home === null ? null : realRoot(segmentsOf(home));
  return toolchainsOn(path, { home: real, ours, protectedPaths: pathSettings.protectedPaths }, user?.programs);
}

/** A tree that is not there, is a link, or may not be shown is left out; so is a folder that no rule knows. */
export function toolchainsOn(
  path: string,
  facts: Pick<PlanFacts, "home" | "ours" | "protectedPaths">,
  { add, remove }: WrittenPrograms = { add: [], remove: [] },
): ClientToolchains {
  const [added, removed] = [realFolders(add), realFolders(remove)];
  const isRemoved = (folder: PlanPath): boolean => removed.some((one) => isWithin(folder, one));
  const trees: PlanPath[] = [];
  const folders: PlanPath[] = [];
  const variables: (readonly [string, string])[] = [];
  const names: { name: string; folder: PlanPath }[] = [];
  const left: PlanPath[] = [];
  const entries = path
    .split(":")
    .slice(0, foldersMax)
    .map((entry) => (entry.startsWith("/") ? realRoot(segmentsOf(entry)) : null));
  // The person's order; what is added and not on their path comes last.
  for (const real of [...entries, ...added]) {
    if (real === null || !isFolder(real) || [...folders, ...left].some((one) => isSame(one, real))) continue;
    if (isRemoved(real)) {
      left.push(real);
      continue;
    }
    if (SYSTEM.some((tree) => isWithin(real, tree))) {
      folders.push(real);
      continue;
    }
    if (added.some((one) => isSame(one, real))) {
      if (!isShown(real, facts)) {
        left.push(real);
        continue;
      }
      folders.push(real);
      trees.push(real);
      names.push({ name: "programs.add", folder: real });
      continue;
    }
    const found = toolchainAt(real, facts.home);
    const shown = (found?.trees ?? []).filter((tree) => isShown(tree, facts));
    if (found === null || !shown.some((tree) => isWithin(real, tree))) {
      left.push(real);
      continue;
    }
    folders.push(real);
    names.push({ name: found.name, folder: real });
    trees.push(...shown.filter((tree) => !isRemoved(tree) && !trees.some((one) => isSame(one, tree))));
    variables.push(...found.variables);
  }
  return { trees, folders, variables, names, left };
}

function realFolders(written: readonly PlanPath[]): readonly PlanPath[] {
  return written.map((one) => realRoot(one)).filter((one) => one !== null);
}

function isShown(tree: PlanPath, facts: Pick<PlanFacts, "home" | "ours" | "protectedPaths">): boolean {
  const real = realRoot(tree);
  return real !== null && isSame(real, tree) && isFolder(tree) && runtimeFault(tree, facts) === null;
}

function isFolder(path: PlanPath): boolean {
  try {
    return statSync(`/${path.join("/")}`).isDirectory();
  } catch {
    return false;
  }
}
