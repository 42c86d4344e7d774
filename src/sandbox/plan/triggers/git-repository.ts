// One git repository as git finds it from a folder: its git folder, the folder it shares with worktrees, and its
// settings with every included file.
import { type GitSetting, gitConfigCharactersMax, readGitConfig } from "./git-config.ts";
import { gitValueKind } from "./git-values.ts";
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
/** Repeated includes count each time. */
const settingsMax = 100_000;

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
  return file === null || file.length === 0 ? null : followPath(tree, file.slice(0, -1)).end;
}

export function repositorySettings(tree: RealTree, { folder, common }: GitRepository, home: Path | null): GitSettings {
  const worktree = folder.join("/") === common.join("/") ? [] : [[...folder, "config"]];
  return settingsFrom(tree, [[...common, "config"], ...worktree, [...folder, "config.worktree"]], home);
}

/**
 * The settings in these files and in all includes, whatever their conditions, in git's order: those of an included file stand where
 * it is included.
 */
export function settingsFrom(tree: RealTree, starts: readonly Path[], home: Path | null): GitSettings {
  const reader = new SettingsReader(tree, home);
  for (const path of starts) reader.read(path, 0);
  return { settings: reader.settings, files: [...reader.files.values()], unread: reader.unread };
}

class SettingsReader {
  readonly settings: GitSetting[] = [];
  readonly files = new Map<string, Path>();
  unread: string | null = null;
  readonly #tree: RealTree;
  readonly #home: Path | null;
  readonly #parsed = new Map<string, readonly GitSetting[]>();

  constructor(tree: RealTree, home: Path | null) {
    this.#tree = tree;
    this.#home = home;
  }

  /** A file that is included twice counts twice. */
  read(path: Path, depth: number): void {
    const key = path.join("/");
    if (depth > includeDepthMax || this.settings.length > settingsMax) {
      this.unread ??= "there are too many included git configurations";
      return;
    }
    if (!this.files.has(key) && this.files.size >= configFilesMax) {
      this.unread ??= "there are too many included git configurations";
      return;
    }
    this.files.set(key, path);
    for (const one of this.#settingsIn(path, key)) {
      this.settings.push(one);
      if ((one.section !== "include" && one.section !== "includeif") || one.key !== "path") continue;
      const included = writtenPath(one.value ?? "", path.slice(0, -1), this.#home);
      if (included !== null) this.read(included, depth + 1);
    }
  }

  #settingsIn(path: Path, key: string): readonly GitSetting[] {
    const known = this.#parsed.get(key);
    if (known !== undefined) return known;
    const { end } = followPath(this.#tree, path);
    const entry = end === null ? null : this.#tree.at(end);
    const text = end === null || entry === null ? "" : this.#tree.text(end, gitConfigCharactersMax);
    const read = text === null ? null : readGitConfig(text);
    const settings = read?.ok === true ? read.value : [];
    // A path that is not UTF-8 has no name here, so that what git runs or reads there would be missed.
    const isNamed = settings.every((one) => !ESCAPED_BYTE.test(one.value ?? "") || !namesFile(one));
    if (read?.ok !== true || !isNamed) this.unread ??= `/${key} cannot be read`;
    this.#parsed.set(key, settings);
    return settings;
  }
}

/** A byte that is not part of UTF-8 text, as a `RealTree` gives it. */
const ESCAPED_BYTE = /[\ud800-\udfff]/u;

function namesFile(one: GitSetting): boolean {
  return (
    one.section.startsWith("include") ||
    (one.section === "core" && one.key === "worktree") ||
    gitValueKind(one) !== null
  );
}
