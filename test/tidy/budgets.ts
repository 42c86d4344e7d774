// Budgets of the tree: how many source files one folder holds, and how many small files exist for a single importer.
import { posix } from "node:path";
import { importsOf } from "./imports.ts";
import { type Finding, isInSrc, isTest, linesOf, type Report, type Source } from "./source.ts";

export const folderFilesMax = 25;

/** Folders that held more when the budget was introduced. A number here may only go down. */
export const largeFolders: Readonly<Record<string, number>> = { "src/platform": 28 };

/** A file shorter than this belongs to its only importer, unless there is a reason to keep the two apart. */
export const smallLines = 60;

/** Small files with a single importer. This number may only go down: fold a file before you add one. */
export const smallFilesMax = 125;

export function checkFolders(sources: readonly Source[]): Report {
  const counts = new Map<string, number>();
  const product = sources.filter(isProduct);
  for (const { path } of product) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  const findings = [...counts].flatMap(([path, count]): readonly Finding[] => {
    const max = largeFolders[path] ?? folderFilesMax;
    return count > max ? [{ path, line: 1, what: `has ${count} source files, more than ${max}` }] : [];
  });
  return { looked: product.length, findings };
}

export function checkSmallFiles(sources: readonly Source[], max: number = smallFilesMax): Report {
  const small = smallFiles(sources);
  const what = `${small.length} files under ${smallLines} lines have a single importer, more than ${max}: fold one into its importer`;
  const findings = small.length > max ? [{ path: "src", line: 1, what }] : [];
  return { looked: sources.filter(isProduct).length, findings };
}

/** [file, its only importer]. Tests do not count as importers, and entry points have none. */
export function smallFiles(sources: readonly Source[]): readonly (readonly [string, string])[] {
  const importers = new Map<string, Set<string>>();
  const product = sources.filter(isProduct);
  for (const source of product)
    for (const { target } of importsOf(source))
      if (target.kind === "file" && target.path !== source.path)
        importers.set(target.path, (importers.get(target.path) ?? new Set()).add(source.path));
  return product.flatMap((source) => {
    const [only, ...others] = importers.get(source.path) ?? [];
    return only !== undefined && others.length === 0 && linesOf(source) < smallLines ? [[source.path, only]] : [];
  });
}

function isProduct(source: Source): boolean {
  return isInSrc(source) && !isTest(source);
}
