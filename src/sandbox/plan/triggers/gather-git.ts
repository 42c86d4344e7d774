// Finds the paths outside a git folder that its hooks, settings and links make triggers.

import {
  commonOf,
  type GitRepository,
  type GitSettings,
  repositorySettings,
  settingsFrom,
  worktreeTop,
} from "./git-repository.ts";
import { filesNamedIn, gitValueKind } from "./git-values.ts";
import { followPath, type RealTree, writtenPath } from "./real-tree.ts";
import { isGitName, nameKey } from "./spelling.ts";
import type { TriggerPath, TriggerPaths } from "./trigger-paths.ts";

type Path = readonly string[];

export interface GitGathering {
  readonly tree: RealTree;
  readonly places: TriggerPaths;
  readonly home: Path | null;
  /** Git folders that no `.git` name leads to. */
  readonly folders: Map<string, Path>;
}

const namesMax = 2_000;
const worktreesMax = 256;
/** Limit of folders below `modules`; beyond it the facts are partial. */
const moduleFoldersMax = 512;
const hookCharactersMax = 65_536;

/** Every hook that git knows. */
const HOOKS: readonly string[] = [
  ...["applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"],
  ...["commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update"],
  ...["proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc"],
  ...["post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist"],
  ...["p4-post-changelist", "p4-pre-submit", "post-index-change"],
];

/** Settings of the user and of the system, which apply to every repository. `beside`: folders whose parent may have git's own. */
export function userGitSettings(tree: RealTree, home: Path | null, beside: readonly Path[]): GitSettings {
  const own =
    home === null
      ? []
      : [
          [...home, ".gitconfig"],
          [...home, ".config", "git", "config"],
        ];
  // Where XDG_CONFIG_HOME moves our configuration, it moves git's as well.
  const moved = beside.filter(({ length }) => length > 0).map((folder) => [...folder.slice(0, -1), "git", "config"]);
  return settingsFrom(tree, [...own, ...moved, ["etc", "gitconfig"]], home);
}

/**
 * Relative paths of hooks in the user's settings. They hold in every repository, also in one that is made later, so they are
 * matched at every depth. Names that go up are left out.
 */
export function hooksOfEveryRepository({ settings }: GitSettings): readonly Path[] {
  return settings.flatMap(({ section, subsection, key, value }) => {
    if (section !== "core" || subsection !== null || key !== "hookspath" || value === null) return [];
    if (value === "" || value.startsWith("/") || value.startsWith("~")) return [];
    return [value.split("/").filter((name) => name !== "" && name !== "." && name !== "..")];
  });
}

/** Whether a path below the root is at, or below, a relative hooks path of some folder. */
export function isHookOfAnyRepository(path: Path, rootLength: number, hooks: readonly Path[]): boolean {
  return hooks.some((names) => {
    if (names.length === 0) return HOOKS.includes(nameKey(path.at(-1) ?? ""));
    const keys = names.map(nameKey);
    return path.some(
      (_, at) => at + keys.length > rootLength && keys.every((key, depth) => key === nameKey(path[at + depth] ?? "")),
    );
  });
}

/** Whether a link of this path would be on the way to such hooks: it ends like the beginning of one of their paths. */
export function isOnWayToHooks(path: Path, hooks: readonly Path[]): boolean {
  return hooks.some((names) =>
    names.some((_, count) => {
      const start = names.slice(0, count + 1);
      const tail = path.slice(-start.length);
      return tail.length === start.length && start.every((name, at) => nameKey(name) === nameKey(tail[at] ?? ""));
    }),
  );
}

export function gatherUserGit({ places, tree }: GitGathering, settings: GitSettings): void {
  for (const file of settings.files) protect(tree, places, file, "git reads its configuration from it");
}

/** `withModules`: including its submodules and worktrees. */
export function gatherRepository(
  gathering: GitGathering,
  repository: GitRepository,
  user: GitSettings,
  withModules: boolean,
): void {
  const { tree, places, home, folders } = gathering;
  for (const folder of [repository.folder, repository.common])
    if (!folder.some(isGitName)) {
      folders.set(folder.join("/"), folder);
      // Any other spelling is not a valid import path.
      places.add(folder, { class: "never", why: "git looks here for the repository" });
    }
  const own = repositorySettings(tree, repository, home);
  if (own.unread !== null) places.addPartial(own.unread);
  for (const file of own.files) protect(tree, places, file, "git reads its configuration from it");
  const tops = [repository.top ?? repository.folder, ...worktreeSetting(tree, own, repository.folder, home)];
  if (withModules) tops.push(...worktreesOf(tree, repository.common));
  for (const top of tops) gatherSettings(gathering, top, repository.folder, [...user.settings, ...own.settings]);
  gatherFolder(gathering, repository.common, tops[0] as Path);
  if (repository.folder.join("/") !== repository.common.join("/"))
    gatherFolder(gathering, repository.folder, tops[0] as Path);
  if (withModules) gatherModules(gathering, repository.common, user);
}

function gatherSettings(
  { tree, places, home }: GitGathering,
  top: Path,
  folder: Path,
  settings: GitSettings["settings"],
): void {
  for (const one of settings) {
    const kind = one.value === null ? null : gitValueKind(one);
    if (kind === null || one.value === null) continue;
    const name = [one.section, one.subsection, one.key].filter((part) => part !== null).join(".");
    if (kind === "hooks" || kind === "attributes") {
      // Server-side hooks start in the git folder.
      for (const base of kind === "hooks" ? [top, folder] : [top]) {
        const path = writtenPath(one.value, base, home);
        if (path === null) continue;
        if (kind === "hooks" && isWithin(top, followPath(tree, path).end ?? path)) {
          // The project folder itself, or a parent: only files named like hooks count.
          for (const hook of HOOKS) protect(tree, places, [...path, hook], `git follows \`${name}\` to it`);
          continue;
        }
        protect(tree, places, path, `git follows \`${name}\` to it`, kind === "hooks" ? "never" : "ask");
        if (kind === "hooks") gatherHooks({ tree, places, home }, path, top);
      }
    } else
      for (const path of filesNamedIn(one.value, top, home, tree))
        protect(tree, places, path, `git runs it by \`${name}\``, "ask");
  }
}

/** Links among the files that git reads in its folder, and the programs that hooks there name. */
function gatherFolder(gathering: GitGathering, folder: Path, top: Path): void {
  const { tree, places } = gathering;
  for (const part of [folder, [...folder, "info"]])
    for (const { name, kind } of tree.list(part, namesMax) ?? [])
      if (kind === "link") addLink(tree, places, [...part, name]);
      else if (kind === "file") addHardLinks(tree, places, [...part, name]);
  gatherHooks(gathering, [...folder, "hooks"], top);
}

function gatherHooks({ tree, places, home }: Omit<GitGathering, "folders">, folder: Path, top: Path): void {
  const { end } = followPath(tree, folder);
  const names = end === null ? null : tree.list(end, namesMax);
  if (end === null || names === null) return;
  for (const { name, kind } of names) {
    const path = [...end, name];
    if (kind === "link") addLink(tree, places, path);
    else if (kind === "file") addHardLinks(tree, places, path);
    else continue;
    if (name.endsWith(".sample")) continue;
    const hook = followPath(tree, path).end;
    const text = hook === null ? null : tree.text(hook, hookCharactersMax);
    for (const file of text === null ? [] : filesNamedIn(text, top, home, tree))
      protect(tree, places, file, `the git hook \`${name}\` names it`, "ask");
  }
}

/** A submodule's git folder is below `modules` under the submodule's name, which may contain slashes. */
function gatherModules(gathering: GitGathering, common: Path, user: GitSettings): void {
  const { tree, places } = gathering;
  const waiting: Path[] = [[...common, "modules"]];
  for (let count = 0; waiting.length > 0; count++) {
    if (count >= moduleFoldersMax) {
      places.addPartial("there are too many submodules to check");
      return;
    }
    const folder = waiting.pop() as Path;
    const names = tree.list(folder, 20_000);
    if (names === null) continue;
    if (names.some(({ name }) => name === "HEAD")) {
      gatherRepository(
        gathering,
        { top: moduleTop(gathering, folder), folder, common: commonOf(tree, folder) },
        user,
        false,
      );
      if (names.some(({ name }) => name === "modules")) waiting.push([...folder, "modules"]);
    } else for (const { name, kind } of names) if (kind === "folder") waiting.push([...folder, name]);
  }
}

function moduleTop({ tree, home }: GitGathering, folder: Path): Path | null {
  return worktreeSetting(tree, settingsFrom(tree, [[...folder, "config"]], home), folder, home)[0] ?? null;
}

/** The folder that `core.worktree` names, relative to the git folder. */
function worktreeSetting(tree: RealTree, { settings }: GitSettings, folder: Path, home: Path | null): readonly Path[] {
  const written = settings.findLast(({ section, key }) => section === "core" && key === "worktree")?.value ?? null;
  const path = written === null ? null : writtenPath(written, folder, home);
  const top = path === null ? null : followPath(tree, path).end;
  return top === null ? [] : [top];
}

function worktreesOf(tree: RealTree, common: Path): readonly Path[] {
  const entries = tree.list([...common, "worktrees"], worktreesMax) ?? [];
  return entries.flatMap(({ name }) => {
    const top = worktreeTop(tree, [...common, "worktrees", name]);
    return top === null ? [] : [top];
  });
}

/** The path, every link on it, and its target. */
export function protect(
  tree: RealTree,
  places: TriggerPaths,
  path: Path,
  why: string,
  of: "ask" | "never" = "never",
): void {
  const { end, links, ups } = followPath(tree, path);
  for (const one of [path, ...links, ...(end === null ? [] : [end])]) places.add(one, { class: of, why });
  addUps(places, ups, { class: of, why });
}

/** The name stays free; a link in its place would replace what lies below it, and `..` is below every name. */
function addUps(places: TriggerPaths, ups: readonly Path[], place: TriggerPath): void {
  for (const up of ups) places.add([...up, ".."], place);
}

/** The target of a protected link is also known by the link's name; the links on the path are protected. */
export function addLink(tree: RealTree, places: TriggerPaths, link: Path): void {
  const { end, links, ups } = followPath(tree, link);
  for (const one of [...links.slice(1), ...(end === null ? [] : [end])]) places.addAlias(one, link);
  addUps(places, ups, { class: "never", why: `/${link.join("/")} leads through it` });
}

export function addHardLinks(tree: RealTree, places: TriggerPaths, path: Path): void {
  const entry = tree.at(path);
  if (entry?.kind === "file" && entry.links > 1)
    places.addFile(entry.identity, { class: "never", why: `it is a hard link of /${path.join("/")}` });
}

function isWithin(path: Path, base: Path): boolean {
  return path.length >= base.length && base.every((name, at) => name === path[at]);
}
