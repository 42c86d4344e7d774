// The search path of a sandbox: folders of the configured trees, then the system's own. Never a folder an agent writes
// to.

import type { PlanPath } from "../plan.ts";
import type { ExistingName } from "../plan-facts.ts";
import { isSame, SYSTEM_PATH } from "../plan-path.ts";

/** A toolchain's programs are in its bin folder, or in one for each name or version. */
const BIN: readonly PlanPath[] = [["bin"], ["*", "bin"], ["*", "*", "bin"]];
const foldersMax = 32;

/** Patterns to look up before a plan is made. */
export function programPatterns(runtime: readonly PlanPath[]): readonly PlanPath[] {
  return runtime.flatMap((tree) => BIN.map((path) => [...tree, ...path]));
}

export function searchPath(runtime: readonly PlanPath[], found: readonly ExistingName[]): string {
  const folders = [...runtime.flatMap((tree) => programFolders(tree, found)).slice(0, foldersMax), ...SYSTEM_PATH];
  const texts = folders.map((folder) => `/${folder.join("/")}`);
  // A colon would split the folder in two.
  return [...new Set(texts.filter((text) => !text.includes(":")))].join(":");
}

/** Nearest first, and of adjacent versions the newest. */
function programFolders(tree: PlanPath, found: readonly ExistingName[]): readonly PlanPath[] {
  if (["bin", "sbin", "shims"].includes(tree[tree.length - 1] ?? "")) return [tree];
  const folders = BIN.flatMap((pattern) =>
    found
      .filter(({ kind, path }) => kind === "folder" && isMatch(path, [...tree, ...pattern]))
      .map(({ path }) => path)
      .sort((left, right) => newestFirst(left.join("/"), right.join("/"))),
  );
  const own = [...tree, "bin"];
  return folders.some((folder) => isSame(folder, own)) ? folders : [own, ...folders];
}

function isMatch(path: PlanPath, pattern: PlanPath): boolean {
  return path.length === pattern.length && pattern.every((name, at) => name === "*" || name === path[at]);
}

/** Numeric where they have numbers: v20 before v9. */
function newestFirst(left: string, right: string): number {
  const [first, second] = [left, right].map((text) => text.split(/(\d{1,9})/)) as [string[], string[]];
  for (let at = 0; at < Math.min(first.length, second.length); at++) {
    const [one, other] = [first[at] as string, second[at] as string];
    if (one === other) continue;
    if (at % 2 === 1) return Number(other) - Number(one);
    return one < other ? -1 : 1;
  }
  return second.length - first.length;
}
