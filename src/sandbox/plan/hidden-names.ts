// Names below a root that a program does not see because `fs.read` does not cover them: in each folder on the path to a
// visible path, everything else.
import { pathText } from "../../core/authority/axes/path.ts";
import type { TreePath } from "../../core/authority/patterns/tree-patterns.ts";
import { type PlanningResult, type PlanRefusal, planValue, refusePlan } from "../../core/gate/programs/plan-refusal.ts";
import type { VisibleFiles } from "../../core/gate/programs/visible-files.ts";
import type { PlanPath } from "./plan.ts";
import type { FolderNames } from "./plan-facts.ts";
import { isSame, isWithin } from "./plan-path.ts";

/** Names in one folder, more than a mask can take: a longer listing is not needed to refuse. */
export const listedNamesMax = 4_096;

/** The folders that must be listed: the root, those on the path to a visible path, and single names themselves. */
export function foldersToList(visible: VisibleFiles, root: PlanPath): readonly PlanPath[] {
  if (visible === null) return [];
  const folders = new Map([[pathText(root), root]]);
  for (const { path, isTree } of visible)
    for (let length = root.length + 1; length <= path.length - (isTree ? 1 : 0); length++)
      folders.set(pathText(path.slice(0, length)), path.slice(0, length));
  return [...folders.values()].sort((left, right) => left.length - right.length);
}

/** INVARIANT: a folder that cannot be listed, or has more names than can be hidden, refuses the run. */
export function hiddenNames(
  visible: VisibleFiles,
  root: PlanPath,
  listed: readonly FolderNames[],
): PlanningResult<readonly PlanPath[]> {
  if (visible === null) return planValue([]);
  const hidden: PlanPath[] = [];
  for (const folder of foldersToList(visible, root)) {
    const found = listed.find(({ path }) => isSame(path, folder));
    if (found === undefined || found.names === null)
      return unhidden(`${pathText(folder)} cannot be listed, so what \`fs.read\` does not cover cannot be hidden`);
    for (const name of found.names) {
      const path = [...folder, name];
      if (!visible.some((one) => isOnTheWay(path, one))) hidden.push(path);
    }
    if (hidden.length > listedNamesMax)
      return unhidden(`more than ${listedNamesMax} names below ${pathText(root)} are not covered by \`fs.read\``);
  }
  return planValue(hidden);
}

function unhidden(message: string): PlanRefusal {
  return refusePlan("sandbox_unavailable", message, "run the program in a folder that `fs.read` covers");
}

function isOnTheWay(path: PlanPath, visible: TreePath): boolean {
  return isWithin(visible.path, path);
}

/** For the enforcement report: what is visible, below the root. */
export function visibleNote(visible: VisibleFiles, root: PlanPath): string | null {
  if (visible === null) return null;
  const names = visible
    .slice(0, shownMax)
    .map(({ path, isTree }) => `${path.slice(root.length).join("/")}${isTree ? "/**" : ""}`);
  const more = visible.length > shownMax ? ` and ${visible.length - shownMax} more` : "";
  return `\`fs.read\` shows ${names.length === 0 ? "nothing" : names.join(", ")}${more} of the root`;
}

const shownMax = 8;
