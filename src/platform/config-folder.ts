// Finds the configuration folder of a state folder: the user's own for the default state folder, elsewhere the one a
// person named when they started the daemon by hand. The caller's environment does not decide it.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { daemonFolder } from "./daemon/daemon-start.ts";
import { writeWhole } from "./write-whole.ts";

const NAME = "config-folder";
const pathBytesMax = 4096;

export function configFolder(state: string, home: string | null): string | null {
  return namedFolder(state) ?? (home === null ? null : join(home, ".config", "ambit"));
}

/** Records that this configuration belongs to this state, when a person starts the daemon here. */
export function nameConfigFolder(state: string, config: string | null, home: string | null): void {
  if (config === null || config === configFolder(state, home)) return;
  writeWhole(join(daemonFolder(state), NAME), `${config}\n`);
}

function namedFolder(state: string): string | null {
  let file: number;
  try {
    file = openSync(join(daemonFolder(state), NAME), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const { uid, mode, size } = fstatSync(file);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0 || size > pathBytesMax) return null;
    const path = readFileSync(file, "utf8").trimEnd();
    return path.startsWith("/") && !path.includes("\0") ? path : null;
  } finally {
    closeSync(file);
  }
}
