// Removes a folder with the state of a daemon that may still run: it can create a folder while others are removed, and exits once
// its state is gone. Overlays and programs leave folders that their owner may not list.
import { chmodSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { pauseThread } from "./pause.ts";

const attemptsMax = 50;
const pauseMilliseconds = 20;

export function removeState(folder: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === attemptsMax) throw error;
      const { code, path } = error as NodeJS.ErrnoException;
      if (code === "EACCES" && path !== undefined) {
        for (const one of path === folder ? [path] : [dirname(path), path]) openFolder(one);
        continue;
      }
      pauseThread(pauseMilliseconds, "the daemon has not noticed yet that its state is gone");
    }
  }
}

function openFolder(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch {
    // It is gone by now, or belongs to another user: the next attempt reports that.
  }
}
