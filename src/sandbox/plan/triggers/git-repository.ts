// One git repository as git finds it from a folder: its git folder, the folder it shares with worktrees, and its
// settings with every included file.
import { type GitSetting, gitConfigCharactersMax, readGitConfig } from "./git-config.ts";
import { followPath, type RealTree, writtenPath } from "./real-tree.ts";
import { nameKey } from "./spelling.ts";

type Path = readonly string[];

export interface GitRepository {
  /** The worktree; null for a bare repository. */
  readonly top: Path | null;
  /** `.git` itself, or its target. */
  readonly folder: Path;
  /** The same folder, or for a linked worktree that of the main one. */
  readonly common: Path;
}

export interface GitSettings {
  readonly settings: readonly GitSetting[];
  /** Every file they are read from, existing or not. */
  readonly files: readonly Path[];
  /** Why some could not be read; null when all were. */
  readonly unread: string | null;
}

const pointerCharactersMax = 8_192;
/** Git's own limit. */
const includeDepthMax = 10;
const configFilesMax = 64;

/** Null where the folder has no `.git` that leads to a folder. */
export function repositoryAt(tree: RealTree, top: Path): GitRepository | null {
  const name = [...top, ".git"];
  if (tree.at(name) === null) return null;
  const { end } = followPath(tree, name);
  if (end === null) return null;
  const entry = tree.at(end);
  if (entry?.kind === "folder") return { top, folder: end, common: commonOf(tree, end) };
  const text = entry?.kind === "file" ? tree.text(end, pointerCharactersMax) : null;
  const [, written = null] = /^gitdir:[ \t]*([^\n]+?)[\r\n]*$/.exec(text ?? "") ?? [];
  // Git resolves it relative to the file that contains it.
  const folder = written === null ? null : writtenPath(written, end.slice(0, -1), null);
  const real = folder === null ? null : followPath(tree, folder).end;
  return real === null ? null : { top, folder: real, common: commonOf(tree, real) };
}

/** A folder that git takes for a repository by its content. */
export function bareRepositoryAt(tree: RealTree, folder: Path): GitRepository | null {
  return isRepositoryShape((name) => tree.at([...folder, name]) !== null)
    ? { top: null, folder, common: commonOf(tree, folder) }
    : null;
}

/** Git's own check: `HEAD`, and objects and refs here or in the folder that `commondir` names. */
export function isRepositoryShape(has: (name: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

const SHAPE_NAMES: ReadonlySet<string> = new Set(["head", "commondir", "objects", "refs"]);

/** Whether a name on the path is part of the shape of a repository: two such files make one together. */
export function isPartOfShape(path: Path): boolean {
  return path.some((name) => SHAPE_NAMES.has(nameKey(name)));
}

export function commonOf(tree: RealTree, folder: Path): Path {
  const text = tree.text([...folder, "commondir"], pointerCharactersMax)?.replace(/[\r\n]+$/, "") ?? null;
  const written = text === null ? null : writtenPath(text, folder, null);
  return (written === null ? null : followPath(tree, written).end) ?? folder;
}

/** The folder that a linked worktree's `gitdir` names. */
export function worktreeTop(tree: RealTree, entry: Path): Path | null {
  const text = tree.text([...entry, "gitdir"], pointerCharactersMax)?.replace(/[\r\n]+$/, "") ?? null;
  const file = text === null ? null : writtenPath(text, entry, null);
  return file === null || file.length === 0 ? null : file.slice(0, -1);
}

export function repositorySettings(tree: RealTree, { folder, common }: GitRepository, home: Path | null): GitSettings {
  const worktree = folder.join("/") === common.join("/") ? [] : [[...folder, "config"]];
  return settingsFrom(tree, [[...common, "config"], ...worktree, [...folder, "config.worktree"]], home);
}

/** The settings in these files and in all includes, whatever their conditions. */
export function settingsFrom(tree: RealTree, starts: readonly Path[], home: Path | null): GitSettings {
  const settings: GitSetting[] = [];
  const files: Path[] = [];
  const seen = new Set<string>();
  let unread: string | null = null;
  let waiting = starts.map((path) => ({ path, depth: 0 }));
  while (waiting.length > 0) {
    const [{ path, depth }, ...others] = waiting as [(typeof waiting)[number], ...typeof waiting];
    waiting = others;
    const key = path.join("/");
    if (seen.has(key)) continue;
    if (seen.size >= configFilesMax)
      return { settings, files, unread: "there are too many included git configurations" };
    seen.add(key);
    files.push(path);
    const { end } = followPath(tree, path);
    const entry = end === null ? null : tree.at(end);
    if (end === null || entry === null) continue;
    const text = tree.text(end, gitConfigCharactersMax);
    const read = text === null ? null : readGitConfig(text);
    if (read === null || !read.ok) {
      unread ??= `/${key} cannot be read`;
      continue;
    }
    settings.push(...read.value);
    for (const one of read.value) {
      if ((one.section !== "include" && one.section !== "includeif") || one.key !== "path") continue;
      const included = writtenPath(one.value ?? "", path.slice(0, -1), home);
      if (included !== null && depth < includeDepthMax) waiting.push({ path: included, depth: depth + 1 });
    }
  }
  return { settings, files, unread };
}
