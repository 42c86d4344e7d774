// The semantic difference of two indexes: paths with other entries, and the input lines of `git update-index`.
import type { GitIndex, IndexEntry } from "./index-file.ts";
import { nullId, type ObjectFormat } from "./object-id.ts";

/** All entries of one path afterwards; none removes the path. */
export interface IndexChange {
  readonly path: string;
  readonly before: readonly IndexEntry[];
  readonly after: readonly IndexEntry[];
}

/**
 * Flags are not compared and never carried over. An "intent to add" path has no content yet: it is left out, so that
 * the file is untracked in the person's repository.
 */
export function indexChanges(from: GitIndex | null, to: GitIndex): readonly IndexChange[] {
  const before = entriesByPath(from);
  const after = entriesByPath(to);
  const changes: IndexChange[] = [];
  for (const [path, entries] of after) {
    const old = before.get(path) ?? [];
    if (!isSameEntries(old, entries)) changes.push({ path, before: old, after: entries });
  }
  for (const [path, entries] of before) if (!after.has(path)) changes.push({ path, before: entries, after: [] });
  return changes;
}

/** Input of `git update-index -z --index-info`: byte strings, removals first, so that a file can turn into a folder. */
export function indexInfo(changes: readonly IndexChange[], format: ObjectFormat): string {
  const removed = changes.map(({ path }) => `0 ${nullId(format)}\t${path}\0`);
  const added = changes.flatMap(({ after }) =>
    after.map(({ mode, id, stage, path }) => `${mode.toString(8)} ${id} ${stage}\t${path}\0`),
  );
  return [...removed, ...added].join("");
}

/** Without "intent to add" paths. */
export function entriesByPath(index: GitIndex | null): ReadonlyMap<string, readonly IndexEntry[]> {
  const paths = new Map<string, IndexEntry[]>();
  if (index === null) return paths;
  const intended = new Set(index.flagged.filter(({ flag }) => flag === "intent-to-add").map(({ path }) => path));
  for (const entry of index.entries) {
    if (intended.has(entry.path)) continue;
    const known = paths.get(entry.path);
    if (known === undefined) paths.set(entry.path, [entry]);
    else known.push(entry);
  }
  return paths;
}

export function isSameEntries(left: readonly IndexEntry[], right: readonly IndexEntry[]): boolean {
  return (
    left.length === right.length &&
    left.every((entry, at) => {
      const other = right[at];
      return other !== undefined && other.mode === entry.mode && other.id === entry.id && other.stage === entry.stage;
    })
  );
}
