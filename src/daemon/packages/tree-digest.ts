// The digest of a folder: names, kinds, modes and contents, in an order of its own. Nothing is followed; what is neither a folder,
// a file nor a link has none. Files are read in short slices, so that the event loop goes on; asynchronous reads of some thousand
// small files take three times as long.
import { createHash, type Hash } from "node:crypto";
import { chmodSync, closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { join } from "node:path";

export interface TreeDigest {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
}

const filesMax = 200_000;
const bytesMax = 2_147_483_648;
const pieceBytes = 262_144;
/** Of one file between two slices. */
const pieces = 16;
const sliceMilliseconds = 4;
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Throws as the file system does, and for a tree over the limits. */
export async function treeDigest(folder: string): Promise<TreeDigest> {
  const whole = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  let [files, bytes] = [0, 0];
  for await (const { path, name } of walk(folder)) {
    const found = lstatSync(path);
    files++;
    bytes += found.isFile() ? found.size : 0;
    if (files > filesMax || bytes > bytesMax) throw new Error("the package is too large");
    const head = JSON.stringify(name);
    if (found.isDirectory()) whole.update(`${head} folder\n`);
    else if (found.isSymbolicLink()) whole.update(`${head} link ${JSON.stringify(readlinkSync(path))}\n`);
    else if (found.isFile()) {
      const content = createHash("sha256");
      await readInto(content, path, piece);
      whole.update(`${head} file ${(found.mode & 0o111) === 0 ? "-" : "x"} ${content.digest("hex")}\n`);
    } else throw new Error(`${name} is not a regular file`);
  }
  return { digest: whole.digest("hex"), files, bytes };
}

/** SHA-256 of a file, never through a link. */
export async function fileDigest(path: string): Promise<Buffer> {
  const content = createHash("sha256");
  await readInto(content, path, Buffer.allocUnsafe(pieceBytes));
  return content.digest();
}

/** Nothing in it can be written any more; files that no program may read become readable. */
export async function makeReadOnly(folder: string): Promise<void> {
  const folders = [folder];
  for await (const { path } of walk(folder)) {
    const found = lstatSync(path);
    if (found.isDirectory()) folders.push(path);
    else if (found.isFile()) chmodSync(path, (found.mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  for (const one of folders) chmodSync(one, 0o555);
}

/** Everything below a folder; `name` is relative to it. */
async function* walk(folder: string): AsyncIterable<{ readonly path: string; readonly name: string }> {
  const folders = [""];
  let began = performance.now();
  for (let at = folders.pop(); at !== undefined; at = folders.pop())
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true }).sort(byName)) {
      const name = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      yield { path: join(folder, name), name };
      if (performance.now() - began < sliceMilliseconds) continue;
      await new Promise((next) => setImmediate(next));
      began = performance.now();
    }
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : 1;
}

/** Never through a link: a name that changed meanwhile is an error. */
async function readInto(digest: Hash, path: string, piece: Buffer): Promise<void> {
  const file = openSync(path, NO_FOLLOW);
  try {
    let left = pieces;
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      digest.update(piece.subarray(0, read));
      if (--left > 0) continue;
      await new Promise((next) => setImmediate(next));
      left = pieces;
    }
  } finally {
    closeSync(file);
  }
}
