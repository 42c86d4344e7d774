// The triggers of one root at this moment: computed from the real tree for the paths that are to be changed.

import {
  type GitGathering,
  gatherRepository,
  gatherUserGit,
  hooksOfEveryRepository,
  protect,
  userGitSettings,
} from "./gather-git.ts";
import { type GatherLimits, gatherNames, walkNames } from "./gather-names.ts";
import { bareRepositoryAt, type GitSettings, repositoryAt } from "./git-repository.ts";
import { followPath, type RealTree } from "./real-tree.ts";
import { TriggerPaths } from "./trigger-paths.ts";
import type { TriggerBases, TriggerTable } from "./trigger-table.ts";

type Path = readonly string[];

export interface TriggerOptions extends TriggerBases {
  readonly table: TriggerTable;
  /** The user's configuration and state folders, by all their names. */
  readonly ours: readonly Path[];
  /** The folder of our own program. */
  readonly program: Path;
  /** Folders below the root with repositories, links or triggers of their own, as far as they are known. */
  readonly inner: readonly Path[];
}

const OWN_LIMITS: GatherLimits = { foldersMax: 2_000, depthMax: 16, isTold: true };
const HOME_LIMITS: GatherLimits = { foldersMax: 300, depthMax: 2, isTold: false };
const OURS_LIMITS: GatherLimits = { foldersMax: 256, depthMax: 3, isTold: false };

/** What of our package is loaded when ambit runs. In a checkout, sources and examples beside it are files like any others. */
const PROGRAM_PARTS = ["bin", "dist", "node_modules", "package.json"];

export class TriggerFacts {
  readonly tree: RealTree;
  readonly options: TriggerOptions;
  readonly places: TriggerPaths = new TriggerPaths();
  /** Git folders by joined path: targets of `.git` names, and those of submodules and worktrees. */
  readonly gitFolders: Map<string, Path> = new Map();
  /** Relative hooks paths of the user's git settings. */
  readonly everyHooks: readonly Path[];
  readonly #user: GitSettings;
  readonly #seen = new Set<string>();
  readonly #prepared = new Set<string>();
  readonly #git: GitGathering;

  constructor(tree: RealTree, options: TriggerOptions) {
    const { root, home, workspaces, ours, program, table } = options;
    this.tree = tree;
    this.options = options;
    this.#git = { tree, places: this.places, home, folders: this.gitFolders };
    this.#user = userGitSettings(tree, home, ours);
    this.everyHooks = hooksOfEveryRepository(this.#user);
    if (this.#user.unread !== null) this.places.addPartial(this.#user.unread);
    gatherUserGit(this.#git, this.#user);
    for (const folder of ours) {
      protect(tree, this.places, folder, "it contains ambit's own files");
      this.#ownLinks(folder);
    }
    for (const part of PROGRAM_PARTS) protect(tree, this.places, [...program, part], "it is ambit's own program");
    for (const one of table.runtime)
      if (one.length > root.length && isBelow(one, root))
        protect(tree, this.places, one, "every sandbox runs programs from it");
    for (const base of workspaces) if (isAlong(base, root)) this.#gather(base, OWN_LIMITS, true);
    // Wherever the root lies: start-up files in a home folder are often links into a folder of dotfiles.
    if (home !== null) this.#gather(home, HOME_LIMITS, false);
    // A repository around the root may have its hooks path in it.
    for (let depth = 1; depth < root.length; depth++) this.#repository(root.slice(0, depth), false);
    this.#gather(root, OWN_LIMITS, true);
    for (const folder of options.inner) this.#gather(folder, OWN_LIMITS, true);
  }

  /** Examines each folder between the root and a path once. Called for every path before the first is classified. */
  prepare(path: Path): void {
    const { root } = this.options;
    // Most changes are siblings.
    const parent = path.slice(0, -1).join("/");
    if (this.#prepared.has(parent)) return;
    this.#prepared.add(parent);
    for (let depth = root.length + 1; depth < path.length; depth++) {
      const folder = path.slice(0, depth);
      const key = folder.join("/");
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      // A folder that does not exist yet is empty.
      if (this.tree.at(folder)?.kind !== "folder") return;
      this.#repository(folder, false);
    }
  }

  #gather(base: Path, limits: GatherLimits, withModules: boolean): void {
    const { table } = this.options;
    const key = base.join("/");
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    gatherNames({ tree: this.tree, places: this.places, table, bases: this.options }, base, limits);
    this.#repository(base, withModules);
  }

  #repository(top: Path, withModules: boolean): void {
    const repository = repositoryAt(this.tree, top) ?? bareRepositoryAt(this.tree, top);
    if (repository !== null) gatherRepository(this.#git, repository, this.#user, withModules);
  }

  /** A `config.yml` that links into a dotfiles folder is ours at its real path. */
  #ownLinks(folder: Path): void {
    const left = { folders: OURS_LIMITS.foldersMax };
    walkNames(this.tree, followPath(this.tree, folder).end ?? folder, OURS_LIMITS, left, (path, kind) => {
      if (kind === "link") protect(this.tree, this.places, path, "it is ambit's own file");
    });
  }
}

function isBelow(path: Path, base: Path): boolean {
  return path.length >= base.length && base.every((name, at) => name === path[at]);
}

function isAlong(left: Path, right: Path): boolean {
  return isBelow(left, right) || isBelow(right, left);
}
