// Where a folder really lies: every link on the way followed, as far as the way exists.
import { lstatSync, realpathSync, statSync } from "node:fs";
import { isPlainText } from "../core/authority/patterns/reserved.ts";
import type { RealRoot } from "../core/notation/reading.ts";

/**
 * The deepest part that exists, followed, and the rest as written. Null where that has no one answer: a link that leads
 * nowhere could lead anywhere tomorrow, a closed folder hides what is in it, a ring of links has no end.
 */
export const realRoot: RealRoot = (root) => {
  try {
    let depth = root.length;
    // A link without an end is there, although nothing is at its end: following it then fails below.
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

/** Node shows bytes that are no UTF-8 by a sign of its own: such a name says nothing. */
function isComparable(path: string): boolean {
  return !path.includes("\uFFFD") && isPlainText(path);
}
