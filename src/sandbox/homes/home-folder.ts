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
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { TreeFolder } from "../live/tree-folder.ts";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** O_PATH of Linux, which Node has no name for: names a folder without opening it. */
const PATH_ONLY = 0o10000000 | constants.O_NOFOLLOW | constants.O_DIRECTORY;

/** Replaces the name with a new file; a link, a pipe or a folder in its place is removed. Throws as the system does. */
export function placeFile(home: TreeFolder, path: readonly string[], content: Uint8Array): void {
  withFolder(home, path.slice(0, -1), (folder) => {
    const name = path.at(-1) as string;
    const fresh = `.ambit-${randomBytes(8).toString("hex")}`;
    const descriptor = openSync(folder.pathOf(fresh), NEW_FILE, 0o600);
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    if (folder.stamp(name) !== null && isFolder(folder, name)) removeName(folder, name);
    renameSync(folder.pathOf(fresh), folder.pathOf(name));
  });
}

/** Removes the name with everything below it. */
export function dropName(home: TreeFolder, path: readonly string[]): void {
  const parent = home.descend(path.slice(0, -1));
  if (parent === null) return;
  try {
    removeName(parent, path.at(-1) as string);
  } finally {
    parent.close();
  }
}

/** Makes the folders on the way; a name that is no folder is replaced by one. */
function withFolder(home: TreeFolder, names: readonly string[], use: (folder: TreeFolder) => void): void {
  let folder = home.descend([]);
  for (const name of names) {
    if (folder === null) break;
    const next: TreeFolder | null = folder.child(name) ?? newFolder(folder, name);
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

function newFolder(parent: TreeFolder, name: string): TreeFolder | null {
  removeName(parent, name);
  mkdirSync(parent.pathOf(name), { mode: 0o700 });
  return parent.child(name);
}

function isFolder(parent: TreeFolder, name: string | Buffer): boolean {
  return lstatSync(pathIn(parent, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Levels that are open at once; what lies deeper is moved up first. */
const depthMax = 12;

function removeName(parent: TreeFolder, name: string): void {
  if (!isFolder(parent, name)) {
    if (lstatSync(parent.pathOf(name), { throwIfNoEntry: false }) !== undefined) unlinkSync(parent.pathOf(name));
    return;
  }
  const top = openForRemoval(parent, name);
  try {
    const pending: Buffer[] = [];
    empty(top, top, 0, pending);
    for (let next = pending.shift(); next !== undefined; next = pending.shift())
      removeFolder(top, next, top, 1, pending);
  } finally {
    top.close();
  }
  rmdirSync(parent.pathOf(name));
}

function empty(folder: TreeFolder, top: TreeFolder, depth: number, pending: Buffer[]): void {
  for (const name of readdirSync(folder.path, { encoding: "buffer" })) {
    if (pending.some((one) => one.equals(name))) continue;
    if (!isFolder(folder, name)) unlinkSync(pathIn(folder, name));
    else if (depth < depthMax) removeFolder(folder, name, top, depth + 1, pending);
    else {
      // Moving a folder changes its `..`, which needs write permission on it.
      openForRemoval(folder, name).close();
      const moved = Buffer.from(`.moved-${randomBytes(8).toString("hex")}`);
      renameSync(pathIn(folder, name), pathIn(top, moved));
      pending.push(moved);
    }
  }
}

function removeFolder(parent: TreeFolder, name: Buffer, top: TreeFolder, depth: number, pending: Buffer[]): void {
  const folder = openForRemoval(parent, name);
  try {
    empty(folder, top, depth, pending);
  } finally {
    folder.close();
  }
  rmdirSync(pathIn(parent, name));
}

/** A folder of any mode: made accessible by its own descriptor, never by its name. */
function openForRemoval(parent: TreeFolder, name: string | Buffer): TreeFolder {
  const held = openSync(pathIn(parent, name), PATH_ONLY);
  try {
    chmodSync(`/proc/self/fd/${held}`, 0o700);
    return TreeFolder.openHeld(held);
  } finally {
    closeSync(held);
  }
}

function pathIn(folder: TreeFolder, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder.path}/`), typeof name === "string" ? Buffer.from(name) : name]);
}
