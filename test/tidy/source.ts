// A source file as the checkers see it, and their results.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export type Source = {
  /** From the root of the checkout, with forward slashes: `src/core/gate/call.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
};

export type Finding = {
  readonly path: string;
  readonly line: number;
  readonly what: string;
};

/** `looked` counts the files a checker really examined, so that none can pass by examining nothing. */
export type Report = {
  readonly looked: number;
  readonly findings: readonly Finding[];
};

export function source(path: string, text: string): Source {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) };
}

/** Every TypeScript file below the folders, in a stable order. A folder that does not exist holds none. */
export function readSources(root: string, folders: readonly string[], ends: RegExp = /\.ts$/): readonly Source[] {
  return folders
    .flatMap((folder) => filesBelow(root, folder))
    .filter((path) => ends.test(path))
    .sort()
    .map((path) => source(path, readFileSync(join(root, path), "utf8")));
}

/** Runs one check over each file it applies to. */
export function examine(
  sources: readonly Source[],
  meant: (source: Source) => boolean,
  check: (source: Source) => readonly Finding[],
): Report {
  const looked = sources.filter(meant);
  return { looked: looked.length, findings: looked.flatMap(check) };
}

export function findingAt(source: Source, node: ts.Node, what: string): Finding {
  const { line } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
  return { path: source.path, line: line + 1, what };
}

/** Tests, and the fixtures beside them: neither is part of the product. */
export function isTest(source: Source): boolean {
  return source.path.endsWith(".test.ts") || isFixture(source.path);
}

export function isFixture(path: string): boolean {
  return /^src\/.*\/testing\//.test(path);
}

export function isInSrc(source: Source): boolean {
  return source.path.startsWith("src/");
}

export function linesOf({ text }: Source): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** Every node of a tree, parents first. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (one: ts.Node): void => {
    nodes.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return nodes;
}

function filesBelow(root: string, folder: string): readonly string[] {
  let entries: ReturnType<typeof list>;
  try {
    entries = list(join(root, folder));
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

function list(folder: string) {
  return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.name !== "node_modules");
}
