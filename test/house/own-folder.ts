// A folder for one test file, removed at its end: a worker of the test runner is killed without notice.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeState } from "./remove-state.ts";

const folders: string[] = [];

export function ownFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.push(folder);
  return folder;
}

/** A daemon whose folder is gone exits by itself. */
export function removeOwnFolders(): void {
  for (const folder of folders.splice(0)) removeState(folder);
}
