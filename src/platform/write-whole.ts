// Writes a private file atomically: a reader sees the old text or the new one, even after a crash.
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Throws as the file system does. */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}.draft`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, text, "utf8");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  // The name is durable only once the folder is flushed.
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
