// The home folder of an agent's clients, which those clients fill: links, pipes, hard links and any modes may be in it, and
// another client of the same agent may change it at the same time. INVARIANT: every name is resolved in an open folder, no
// link is followed, no existing file is opened: what we put there is a new file that replaces the name.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import type { TreeFolder } from "../live/tree-folder.ts";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** O_PATH of Linux, which Node has no name for: names a folder without opening it. */
const PATH_ONLY = 0o10000000 | constants.O_NOFOLLOW | constants.O_DIRECTORY;

/** Where folders that are in the way are moved to, under names that begin so. */
export interface Aside {
  readonly folder: TreeFolder;
  readonly prefix: string;
}

/** Replaces the name with a new file; a link, a pipe or a folder in its place is removed. Throws as the system does. */
export function placeFile(home: TreeFolder, path: readonly string[], content: Uint8Array, aside: Aside): void {
  withFolder(home, path.slice(0, -1), aside, (folder) => {
    const name = path.at(-1) as string;
    const fresh = `.ambit-${randomBytes(8).toString("hex")}`;
    const descriptor = openSync(folder.pathOf(fresh), NEW_FILE, 0o600);
    try {
      try {
        writeFileSync(descriptor, content);
      } finally {
        closeSync(descriptor);
      }
      if (folder.stamp(name) !== null && isFolder(folder, name)) removeName(folder, name, aside);
      renameSync(folder.pathOf(fresh), folder.pathOf(name));
    } catch (error) {
      rmSync(folder.pathOf(fresh), { force: true });
      throw error;
    }
  });
}

/**
 * Removes the name with everything below it from the home. A link, or a folder that cannot be opened, on the way to it is removed in its
 * place: a client would still find the name behind it.
 */
export function dropName(home: TreeFolder, path: readonly string[], aside: Aside): void {
  const [name = "", ...below] = path;
  const next = below.length === 0 ? null : home.child(name);
  if (next === null) {
    removeName(home, name, aside);
    return;
  }
  try {
    dropName(next, below, aside);
  } finally {
    next.close();
  }
}

/** A folder of this name; a link or a file in its place is removed. */
export function folderIn(home: TreeFolder, name: string): TreeFolder {
  const found = home.child(name);
  if (found !== null) return found;
  if (lstatSync(home.pathOf(name), { throwIfNoEntry: false }) !== undefined) unlinkSync(home.pathOf(name));
  mkdirSync(home.pathOf(name), { mode: 0o700 });
  const made = home.child(name);
  if (made === null) throw new Error(`${name} is not a usable folder`);
  return made;
}

/** Makes the folders on the way; a name that is no folder is replaced by one. */
function withFolder(home: TreeFolder, names: readonly string[], aside: Aside, use: (folder: TreeFolder) => void): void {
  let folder = home.descend([]);
  for (const name of names) {
    if (folder === null) break;
    const next: TreeFolder | null = folder.child(name) ?? newFolder(folder, name, aside);
    folder.close();
    folder = next;
  }
  if (folder === null) throw new Error(`${names.join("/")} is not a usable folder`);
  try {
    use(folder);
  } finally {
    folder.close();
  }
}

function newFolder(parent: TreeFolder, name: string, aside: Aside): TreeFolder | null {
  removeName(parent, name, aside);
  mkdirSync(parent.pathOf(name), { mode: 0o700 });
  return parent.child(name);
}

function isFolder(parent: TreeFolder, name: string): boolean {
  return lstatSync(parent.pathOf(name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A folder is moved, whatever its size: it is removed afterwards, off the event loop. */
function removeName(parent: TreeFolder, name: string, aside: Aside): void {
  if (!isFolder(parent, name)) {
    if (lstatSync(parent.pathOf(name), { throwIfNoEntry: false }) !== undefined) unlinkSync(parent.pathOf(name));
    return;
  }
  openForMove(parent, name);
  renameSync(parent.pathOf(name), aside.folder.pathOf(`${aside.prefix}${randomBytes(8).toString("hex")}`));
}

/** Moving a folder changes its `..`, which needs write permission on it: given by its descriptor, never by its name. */
function openForMove(parent: TreeFolder, name: string): void {
  const held = openSync(parent.pathOf(name), PATH_ONLY);
  try {
    chmodSync(`/proc/self/fd/${held}`, 0o700);
  } finally {
    closeSync(held);
  }
}
