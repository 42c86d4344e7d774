// Finds our own programs in fixed folders, never on the caller's PATH.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

/** The last one is NixOS's; only root can create it elsewhere. */
export const PROGRAM_FOLDERS: readonly string[] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** The absolute path, or null where none of the folders has the program. */
export function findProgram(name: string, folders: readonly string[] = PROGRAM_FOLDERS): string | null {
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
