// Writes a private file atomically: a reader sees the old content or the new one, even after a crash.
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Throws as the file system does. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}.draft`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, content, "utf8");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** A new name is durable only after its folder is synced. Throws as the file system does. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
