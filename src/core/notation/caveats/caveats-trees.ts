// Path patterns back to the folders whose trees they are, for caveats, which know no other paths.
import type { PathSettings } from "../../authority/axes/path.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";
import { literalPrefix } from "../policy/ceiling.ts";
import { isAtOrBelow } from "../record/hoist.ts";

interface Tree {
  readonly root: readonly string[];
  /** Which names were written. The others came out of a meet with a tree above: they open no protected path. */
  readonly written: readonly boolean[];
}

/** Null where a pattern is no tree, or where writing it down would open a protected path that it does not. */
export function treeRoots(
  patterns: readonly Sequence[],
  protectedPaths: PathSettings["protectedPaths"] | null,
): readonly (readonly string[])[] | null {
  const trees: Tree[] = [];
  for (const pattern of patterns) {
    const tree = treeOf(pattern);
    if (tree === null) return null;
    trees.push(tree);
  }
  const isOpen = (root: readonly string[]): boolean =>
    protectedPaths !== null && !protectedPaths.some((entry) => isAtOrBelow(root, entry));
  const needed = trees.filter(
    (tree, at) =>
      !trees.some(
        (other, there) =>
          there !== at &&
          covers(other, tree, isOpen(tree.root)) &&
          (there < at || !covers(tree, other, isOpen(other.root))),
      ),
  );
  if (needed.some(({ root, written }) => written.includes(false) && !isOpen(root))) return null;
  return needed.map((tree) => tree.root);
}

function treeOf(pattern: Sequence): Tree | null {
  const root = literalPrefix(pattern);
  if (pattern.length !== root.length + 1 || pattern.at(-1)?.kind !== "deep") return null;
  // Caveats write no name with a star in it.
  if (root.some((name) => name.includes("*"))) return null;
  return { root, written: root.map((_, at) => pattern[at]?.kind === "literal") };
}

/** A name that was written below another tree may open a protected path, which the tree around it does not. */
function covers(outer: Tree, inner: Tree, isOpen: boolean): boolean {
  if (!isAtOrBelow(inner.root, outer.root)) return false;
  return isOpen || inner.written.every((written, at) => !written || outer.written[at] === true);
}
