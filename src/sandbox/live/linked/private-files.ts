// Files in an open folder of the copy of a live root, which its program may replace at any moment: read without following links,
// and written through lock files as git does.
import { closeSync, constants, openSync, readSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import type { TreeFolder } from "../tree-folder.ts";

/** `<name>.lock` in an open folder of the copy: created exclusively, then renamed over the name or removed. */
export class PrivateLock {
  readonly #folder: TreeFolder;
  readonly #name: string;
  #isHeld = false;

  constructor(folder: TreeFolder, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  /** False where a git of the program holds it. */
  take(content: string | Uint8Array): boolean {
    let descriptor: number;
    try {
      descriptor = openSync(this.#path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
    } catch {
      return false;
    }
    this.#isHeld = true;
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    return true;
  }

  /** Throws as the system does. */
  commit(): void {
    const target = this.#folder.pathOf(this.#name);
    try {
      renameSync(this.#path, target);
    } catch {
      // An empty folder of refs that are gone.
      rmdirSync(target);
      renameSync(this.#path, target);
    }
    this.#isHeld = false;
  }

  release(): void {
    if (this.#isHeld) unlinkQuietly(this.#folder, `${this.#name}.lock`);
    this.#isHeld = false;
  }

  get #path(): string {
    return this.#folder.pathOf(`${this.#name}.lock`);
  }
}

export function unlinkQuietly(folder: TreeFolder, name: string): void {
  try {
    unlinkSync(folder.pathOf(name));
  } catch {
    // It is gone, or the program put a folder there.
  }
}

export function readText(folder: TreeFolder, name: string, bytesMax: number): string {
  return readBytes(folder, name, bytesMax)?.toString("latin1") ?? "";
}

/** Null where it is no plain file of this size. */
export function readBytes(folder: TreeFolder, name: string, bytesMax: number): Buffer | null {
  const opened = folder.openFile(name);
  if (opened === null) return null;
  const { descriptor, facts } = opened;
  try {
    if (facts.size > BigInt(bytesMax)) return null;
    const bytes = Buffer.alloc(Number(facts.size));
    for (let filled = 0; filled < bytes.length; ) {
      const count = readSync(descriptor, bytes, filled, bytes.length - filled, filled);
      if (count === 0) return null;
      filled += count;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}
