// Folders that an edit of ours needed and made, remembered in the user's state folder, so that exactly these go again once they are
// empty.
import { mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../platform/digest.ts";
import { readTextFile } from "../../platform/files.ts";
import { writeWhole } from "../../platform/write-whole.ts";

const markCharactersMax = 200;

/** Makes the folder and what is missing above it. */
export function makeFolders(state: string, folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  mkdirSync(marksIn(state), { recursive: true, mode: 0o700 });
  for (let made = folder; made.length >= first.length; made = dirname(made))
    writeWhole(markOf(state, made), identity(made) ?? "");
}

/**
 * Removes the folder and those above it, as long as they are empty and ours. INVARIANT: a folder that was made anew in the same
 * place is not ours.
 */
export function removeMadeFolders(state: string, folder: string): void {
  for (let made = folder; made !== dirname(made); made = dirname(made)) {
    const mark = readTextFile(markOf(state, made), markCharactersMax);
    if (!mark.ok) return;
    const found = identity(made);
    if (found === mark.text)
      try {
        rmdirSync(made);
      } catch {
        // Something is in it, or it is not ours to remove.
        return;
      }
    rmSync(markOf(state, made), { force: true });
    if (found !== null && found !== mark.text) return;
  }
}

function marksIn(state: string): string {
  return join(state, "made-folders");
}

function markOf(state: string, folder: string): string {
  return join(marksIn(state), sha256(folder));
}

/** Null where there is no such folder. */
function identity(folder: string): string | null {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true ? `${found.dev} ${found.ino} ${found.birthtimeNs}` : null;
}
