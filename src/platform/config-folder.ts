// Which configuration belongs to a state: the user's own beside the user's own state; elsewhere what a person named when
// the daemon was started there by hand. The environment of whoever happens to ask has no say in it.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { daemonFolder } from "./daemon/daemon-start.ts";
import { writeWhole } from "./write-whole.ts";

const NAME = "config-folder";
const pathBytesMax = 4096;

export function configFolder(state: string, home: string | null): string | null {
  return namedFolder(state) ?? (home === null ? null : join(home, ".config", "ambit"));
}

/** A person starts the daemon here and now: from then on this configuration belongs to this state. */
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
