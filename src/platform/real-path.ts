// The real path of a folder: every link followed, as far as the path exists.
import { lstatSync, realpathSync, statSync } from "node:fs";
import { isPlainText } from "../core/authority/patterns/reserved.ts";
import type { RealRoot } from "../core/notation/reading.ts";

/**
 * The deepest existing part with links followed, and the rest as written. Null where there is no single answer: a
 * dangling link can lead anywhere later, a folder without permission hides its content, a link cycle has no end.
 */
export const realRoot: RealRoot = (root) => {
  try {
    let depth = root.length;
    // A dangling link exists although its target does not: resolving it then fails below.
    while (depth > 0 && lstatSync(pathOf(root.slice(0, depth)), { throwIfNoEntry: false }) === undefined) depth--;
    const real = realpathSync.native(pathOf(root.slice(0, depth)));
    if (depth < root.length && !statSync(real).isDirectory()) return null;
    const found = [...real.split("/").filter((name) => name !== ""), ...root.slice(depth)];
    return isComparable(pathOf(found)) ? found : null;
  } catch {
    return null;
  }
};

function pathOf(root: readonly string[]): string {
  return `/${root.join("/")}`;
}

/** Node shows bytes that are not UTF-8 as a replacement character: such a name is unusable. */
function isComparable(path: string): boolean {
  return !path.includes("\uFFFD") && isPlainText(path);
}
