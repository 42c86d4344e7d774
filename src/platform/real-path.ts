// The real path of a folder: every link followed, as far as the path exists.
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
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

const linksMax = 40;

/**
 * A path with the links among the folders above it followed, so that `~/work/a` and `/data/work/a` are one path. Links inside
 * the workspace stay: the kernel follows them when the file is opened, and refuses what leads out. A path whose links cannot
 * be followed stays as it is written, and no root lies there. So does one through `/proc`, whose links show what other
 * processes have open.
 */
export function followFolders(path: readonly string[], workspace: readonly string[] | null): readonly string[] {
  let [followed, links] = [path, 0];
  for (let depth = 1; depth < followed.length; depth++) {
    if (workspace !== null && depth === workspace.length && workspace.every((name, at) => name === followed[at])) break;
    const above = followed.slice(0, depth);
    if (linkTarget(pathOf(above)) === null) continue;
    const real = ++links > linksMax || leadsThroughProc(above) ? null : realRoot(above);
    if (real === null) return path;
    followed = [...real, ...followed.slice(depth)];
    depth = real.length;
    if (workspace?.every((name, at) => name === real[at]) === true) break;
  }
  return followed;
}

/** A link, and the folder that it leads to, without links. */
export interface FolderLink {
  readonly path: readonly string[];
  readonly target: readonly string[];
}

/**
 * The links by which a name leads to a folder of `root`, or of a folder above it. Those inside of `root` are the project's own and
 * are left out; so is everything behind a link that another user made, because that user can change it.
 */
export function linksToward(name: readonly string[], root: readonly string[]): readonly FolderLink[] {
  const links: FolderLink[] = [];
  let path = name;
  for (let depth = 1, met = 0; depth <= path.length && !startsWith(path.slice(0, depth), root); depth++) {
    const above = path.slice(0, depth);
    const owner = linkOwner(pathOf(above));
    if (owner === null) continue;
    const isOwn = owner === 0 || owner === process.getuid?.();
    const target = ++met > linksMax || !isOwn || leadsThroughProc(above) ? null : realRoot(above);
    if (target === null) break;
    if (!startsWith(target, root) && !startsWith(root, target)) continue;
    links.push({ path: above, target });
    path = [...target, ...path.slice(depth)];
    depth = target.length;
  }
  return links;
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.length <= path.length && start.every((name, at) => name === path[at]);
}

/** Null where there is no link, or none that can be seen. */
function linkOwner(path: string): number | null {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isSymbolicLink() === true ? found.uid : null;
  } catch {
    return null;
  }
}

/** Whether `/proc` is on the way that the kernel takes. */
function leadsThroughProc(path: readonly string[]): boolean {
  let at: readonly string[] = [];
  const names = [...path];
  for (let links = 0; links <= linksMax; ) {
    const name = names.shift();
    if (name === undefined) return false;
    at = name === ".." ? at.slice(0, -1) : [...at, name];
    if (at[0] === "proc") return true;
    const target = linkTarget(pathOf(at));
    if (target === null) continue;
    at = target.startsWith("/") ? [] : at.slice(0, -1);
    names.unshift(...target.split("/").filter((each) => each !== "" && each !== "."));
    links++;
  }
  return true;
}

/** Null where there is no link, or none that can be read. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function pathOf(root: readonly string[]): string {
  return `/${root.join("/")}`;
}

/** Node shows bytes that are not UTF-8 as a replacement character: such a name is unusable. */
function isComparable(path: string): boolean {
  return !path.includes("\uFFFD") && isPlainText(path);
}
