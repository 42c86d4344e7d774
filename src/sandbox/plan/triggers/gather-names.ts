// Finds links among existing triggers: a link's target is protected like the link. Folders of triggers are searched, so
// that links below them count as well.
import { addHardLinks, addLink, protect } from "./gather-git.ts";
import { filesNamedIn } from "./git-values.ts";
import type { ListedName, RealTree } from "./real-tree.ts";
import { isGitName } from "./spelling.ts";
import type { TriggerPaths } from "./trigger-paths.ts";
import type { TriggerBases, TriggerTable } from "./trigger-table.ts";

type Path = readonly string[];

export interface NameGathering {
  readonly tree: RealTree;
  readonly places: TriggerPaths;
  readonly table: TriggerTable;
  readonly bases: TriggerBases;
}

export interface GatherLimits {
  readonly foldersMax: number;
  readonly depthMax: number;
  /** Whether reaching a limit is reported; in a home folder the depth is a choice, not a fault. */
  readonly isTold: boolean;
}

const listedNamesMax = 20_000;
/** Folders that package and version managers fill with thousands of entries; triggers there are found by name only. */
const HEAPS: readonly string[] = [
  ...[".pnpm", ".store", ".nvm", ".pyenv", ".rbenv", ".rvm", ".sdkman", ".asdf", ".volta", ".rustup", ".nodenv"],
  ...[".goenv", ".jenv", ".oh-my-zsh", ".gradle"],
];

const scriptCharactersMax = 65_536;
/** Folders of shell scripts that a hook runner runs. */
const SCRIPT_FOLDERS: readonly string[] = [".husky", ".lefthook", ".githooks"];
const SCRIPTS: readonly string[] = [".envrc"];

/** Triggers directly below one folder: a root, a workspace, a home folder, or a parent of a change. */
export function gatherNames(gathering: NameGathering, base: Path, limits: GatherLimits): void {
  const { tree, places, table, bases } = gathering;
  const left = { folders: limits.foldersMax };
  const addScript = (script: Path): void => {
    const text = tree.text(script, scriptCharactersMax);
    for (const file of text === null ? [] : filesNamedIn(text, base, bases.home, tree))
      protect(tree, places, file, `/${script.join("/")} names it`, "ask");
  };
  const lookInto = (folder: Path): void => {
    const isOfScripts = SCRIPT_FOLDERS.includes(folder.at(-1) ?? "");
    const isWhole = walkNames(tree, folder, limits, left, (path, kind) => {
      if (kind === "file" && isOfScripts) addScript(path);
      if (kind === "link") addLink(tree, places, path);
      // In a home folder that would examine thousands of files.
      else if (kind === "file" && limits.isTold) addHardLinks(tree, places, path);
    });
    if (!isWhole && limits.isTold) places.addPartial(`/${folder.join("/")} has too many files to check`);
  };
  const visit = (folder: Path): void => {
    const names = tree.list(folder, listedNamesMax);
    // In so large a folder a trigger that is a link is protected by its own name only.
    if (names === null && tree.at(folder)?.kind === "folder")
      places.addPartial(`/${folder.join("/")} cannot be listed`);
    for (const { name, kind } of names ?? []) {
      const path = [...folder, name];
      const isHeap = HEAPS.includes(name) && kind === "folder";
      if (isGitName(name) || isHeap || (kind !== "link" && kind !== "folder" && kind !== "file")) continue;
      const isTrigger = table.find(path, bases) !== null;
      const isOnTheWay = kind !== "file" && !isTrigger && table.findBelow(path, bases) !== null;
      if (kind === "link") {
        if (isTrigger || isOnTheWay) addLink(tree, places, path);
      } else if (isTrigger && kind === "file") {
        addHardLinks(tree, places, path);
        if (SCRIPTS.includes(name)) addScript(path);
      } else if (isTrigger) lookInto(path);
      else if (isOnTheWay) visit(path);
    }
  };
  visit(base);
}

/** Every name below a folder, level by level; false where the limits are exceeded. */
export function walkNames(
  tree: RealTree,
  folder: Path,
  { depthMax }: Pick<GatherLimits, "depthMax">,
  left: { folders: number },
  tell: (path: Path, kind: ListedName["kind"]) => void,
): boolean {
  let level: readonly Path[] = [folder];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= depthMax || left.folders < level.length) return false;
    left.folders -= level.length;
    const next: Path[] = [];
    for (const one of level)
      for (const { name, kind } of tree.list(one, listedNamesMax) ?? []) {
        tell([...one, name], kind);
        if (kind === "folder") next.push([...one, name]);
      }
    level = next;
  }
  return true;
}
