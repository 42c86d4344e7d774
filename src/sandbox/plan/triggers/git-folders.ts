// Whether a path lies in a git folder: by a `.git` name, by the target of a `.git` file, or by the shape of a bare
// repository, which the real tree and the draft may form together.
import type { Classification, ClassifiedChange } from "./classify.ts";
import type { DraftNames } from "./draft-names.ts";
import { isRepositoryShape } from "./git-repository.ts";
import type { RealTree } from "./real-tree.ts";
import { isGitName, nameKey } from "./spelling.ts";

type Path = readonly string[];

export interface GitFolderFacts {
  readonly tree: RealTree;
  readonly gitFolders: ReadonlyMap<string, Path>;
  readonly root: Path;
  readonly draft: DraftNames;
  /** Cache by the joined path of a folder. */
  readonly shapes: Map<string, FolderShape>;
  /** Cache of folders with all their parents, so that siblings cost one lookup. */
  readonly shaped: Map<string, readonly ShapedFolder[]>;
}

/**
 * Names with a meaning in a git folder. Others beside them are ordinary files, where the folder is a project as well.
 */
const GIT_NAMES: ReadonlySet<string> = new Set([
  ...["head", "objects", "refs", "commondir", "config", "config.worktree", "hooks", "info", "packed-refs", "modules"],
  ...["worktrees", "logs", "index", "shallow", "gitdir", "reftable", "rr-cache", "lfs", "svn", "common", "alternates"],
]);

/** Null where no git folder is involved. */
export function gitFolderOf(
  path: Path,
  change: Pick<ClassifiedChange, "kind" | "base">,
  facts: GitFolderFacts,
): Classification | null {
  const at = path.findIndex(isGitName);
  if (at >= 0) return namedFolder(path, at, change, facts);
  for (const [key, folder] of facts.gitFolders)
    if (isWithin(path, folder)) return { class: "git", why: `/${key} is a git folder`, repository: folder };
  return bareFolder(path, change, facts);
}

function namedFolder(
  path: Path,
  at: number,
  { kind, base }: Pick<ClassifiedChange, "kind" | "base">,
  { tree }: GitFolderFacts,
): Classification {
  const folder = path.slice(0, at + 1);
  const isLast = at === path.length - 1;
  if (path[at] !== ".git") return never("some file systems read this name as `.git`");
  if (isLast && (kind === "file" || kind === "link" || (base !== null && base.kind !== "folder")))
    return never("git looks here for the repository");
  const real = tree.at(folder);
  // A `.git` file of a worktree or submodule, or a link: a draft must not change its target.
  if (real !== null && real.kind !== "folder") return never("git looks here for the repository");
  return { class: "git", why: "it is in a git folder", repository: folder };
}

/**
 * `git init --bare` creates a folder with these; git takes any folder that has them for a repository and reads its
 * settings.
 */
function bareFolder(
  path: Path,
  { kind }: Pick<ClassifiedChange, "kind" | "base">,
  facts: GitFolderFacts,
): Classification | null {
  for (const { depth, shape } of shapedFolders(path.slice(0, -1), facts)) {
    const folder = path.slice(0, depth);
    if (shape === "repository") return { class: "git", why: "it is in a bare repository", repository: folder };
    if (!isGitMeaning(nameKey(path[depth] as string))) continue;
    // Deleting names makes no repository.
    if (kind === "delete" && shape === "completed") continue;
    return never(`with it /${folder.join("/")} is a git repository whose settings git obeys`);
  }
  return null;
}

/** The folder and its parents up to the root that have the shape of a repository, outermost first. */
function shapedFolders(parent: Path, facts: GitFolderFacts): readonly ShapedFolder[] {
  const key = parent.join("/");
  const known = facts.shaped.get(key);
  if (known !== undefined) return known;
  const found: ShapedFolder[] = [];
  for (let depth = Math.min(facts.root.length, parent.length); depth <= parent.length; depth++) {
    const shape = shapeOf(parent.slice(0, depth), facts);
    if (shape !== "none") found.push({ depth, shape });
  }
  facts.shaped.set(key, found);
  return found;
}

/** `depth`: the number of names in the folder's path. */
export interface ShapedFolder {
  readonly depth: number;
  readonly shape: Exclude<FolderShape, "none">;
}

/**
 * repository: the real folder is one. project: it has the names of one beside its own `.git`. completed: it has them
 * together with the draft.
 */
export type FolderShape = "none" | "repository" | "project" | "completed";

function shapeOf(folder: Path, { tree, draft, shapes }: GitFolderFacts): FolderShape {
  const key = folder.join("/");
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const hasReal = (name: string): boolean => tree.at([...folder, name]) !== null;
  const hasDraft = (name: string): boolean => draft.has(folder, nameKey(name));
  const isShape = isRepositoryShape((name) => hasDraft(name) || hasReal(name));
  const shape = !isShape
    ? "none"
    : !isRepositoryShape(hasReal)
      ? "completed"
      : hasReal(".git")
        ? "project"
        : "repository";
  shapes.set(key, shape);
  return shape;
}

function isGitMeaning(key: string): boolean {
  return GIT_NAMES.has(key) || key.endsWith("_head");
}

function isWithin(path: Path, base: Path): boolean {
  return path.length >= base.length && base.every((name, at) => name === path[at]);
}

function never(why: string): Classification {
  return { class: "never", why };
}
