// Names that no file tool writes or deletes, whatever is granted: what decides about agents, what makes git and editors
// run programs, and our own program. The same names that every sandbox keeps as they are.
import type { FilePath } from "../ports/files.ts";
import { keptPatterns } from "./kept-names.ts";
import { AUTHORITY } from "./plan-places.ts";

export interface KeptFacts {
  readonly home: FilePath | null;
  /** The folders of this machine that have authority files of their own. */
  readonly workspaces: readonly FilePath[];
  /** State, configuration and program. */
  readonly ours: readonly FilePath[];
  /** What may be written. */
  readonly roots: readonly FilePath[];
}

/** At any depth: a repository in a repository is one, too. Commits are made with git. */
const ANYWHERE: readonly string[] = [AUTHORITY, ".git"];

/** Patterns in which `*` is any one name; everything at or below what they name is kept. */
export function keptPaths({ home, workspaces, ours, roots }: KeptFacts): readonly FilePath[] {
  const bases = { home, workspaces };
  const found = new Map<string, FilePath>();
  for (const root of roots)
    for (const path of keptPatterns(root, bases)) if (!path.includes(".git")) found.set(path.join("/"), path);
  for (const path of ours) found.set(path.join("/"), path);
  return [...found.values()];
}

export function isKeptBy(kept: readonly FilePath[]): (path: FilePath) => boolean {
  return (path) => {
    for (const name of path) if (ANYWHERE.includes(name)) return true;
    for (const pattern of kept) if (isAtOrBelow(path, pattern)) return true;
    return false;
  };
}

function isAtOrBelow(path: FilePath, pattern: FilePath): boolean {
  if (pattern.length > path.length) return false;
  for (let at = 0; at < pattern.length; at++) if (pattern[at] !== "*" && pattern[at] !== path[at]) return false;
  return true;
}
