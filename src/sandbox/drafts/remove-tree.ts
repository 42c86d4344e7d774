// Removes a folder that a hostile program filled: any names, any modes, any depth. Follows nothing. What lies deeper
// than a path can name is first moved up, so that every path used here stays short.
import { chmod, type Dirent } from "node:fs";
import { lstat, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { promisify } from "node:util";

const chmodOf = promisify(chmod);

/** Depth at which a folder is moved up to the top. */
const depthMax = 12;
const entriesAtOnceMax = 256;

/** `path` is a folder in a folder only we write to. Rejects as the system does where something cannot be removed. */
export async function removeTree(path: string): Promise<void> {
  const top = Buffer.from(path);
  const found = await lstat(top).catch(absent);
  if (found === null) return;
  if (!found.isDirectory()) return unlink(top);
  const removal = new Removal(top);
  await removal.run();
}

class Removal {
  readonly #top: Buffer;
  #moved = 0;
  /** Folders that were moved up to the top; emptied one after the other. */
  readonly #pending: Buffer[] = [];

  constructor(top: Buffer) {
    this.#top = top;
  }

  async run(): Promise<void> {
    await this.#empty(this.#top, 0);
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      await this.#empty(next, 1);
      await rmdir(next);
    }
    await rmdir(this.#top);
  }

  async #empty(folder: Buffer, depth: number): Promise<void> {
    await chmodOf(folder, 0o700);
    for (let count = entriesAtOnceMax; count === entriesAtOnceMax; ) {
      const some = await this.#some(folder);
      count = some.length;
      for (const path of await unlinkFiles(folder, some)) {
        if (depth < depthMax) {
          await this.#empty(path, depth + 1);
          await rmdir(path);
        } else await this.#moveUp(path);
      }
    }
  }

  /** Not all of a folder at once: a listing of 150,000 names would hold the event loop up. */
  async #some(folder: Buffer): Promise<readonly Dirent<Buffer>[]> {
    const some: Dirent<Buffer>[] = [];
    const listing = await opendir(folder, { encoding: "buffer" as BufferEncoding, bufferSize: entriesAtOnceMax });
    for await (const entry of listing as unknown as AsyncIterable<Dirent<Buffer>>) {
      if (!this.#isPending(below(folder, entry.name))) some.push(entry);
      if (some.length >= entriesAtOnceMax) break;
    }
    return some;
  }

  /** Moving a folder changes its `..`, which needs write permission on it. */
  async #moveUp(path: Buffer): Promise<void> {
    await chmodOf(path, 0o700);
    const to = below(this.#top, Buffer.from(`.moved-${process.pid}-${this.#moved++}`));
    await rename(path, to);
    this.#pending.push(to);
  }

  #isPending(path: Buffer): boolean {
    return this.#pending.some((one) => one.equals(path));
  }
}

/** All at once: a round trip to the thread pool takes longer than the removal of a file. Returns the folders. */
async function unlinkFiles(folder: Buffer, entries: readonly Dirent<Buffer>[]): Promise<readonly Buffer[]> {
  const files = entries.filter((entry) => !entry.isDirectory());
  const done = await Promise.allSettled(files.map(({ name }) => unlink(below(folder, name))));
  for (const one of done) if (one.status === "rejected") throw one.reason;
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => below(folder, name));
}

function below(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

function absent(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
