// A separate state for a test, as `ambit daemon start` leaves one behind: then the daemon starts there automatically. It also
// exits by itself as soon as the folder is gone. `endDaemon` ends it without the start of another program.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pauseThread } from "./pause.ts";
import { isRunning } from "./processes.ts";

/** Both as the XDG variables name them. */
export function prepareState(stateHome: string, configHome: string): void {
  const state = join(stateHome, "ambit");
  const daemon = join(state, "daemon");
  mkdirSync(daemon, { recursive: true });
  for (const folder of [state, daemon]) chmodSync(folder, 0o700);
  writeFileSync(join(daemon, "config-folder"), `${join(configHome, "ambit")}\n`, { mode: 0o600 });
}

const endMillisecondsMax = 30_000;
const pollMilliseconds = 5;

/** Ends the daemon of this state, if one runs, as a service manager would, and returns once it has exited. */
export function endDaemon(stateHome: string): void {
  const pid = ownerOf(join(stateHome, "ambit", "daemon", "owner.lock"));
  if (pid === null || !isRunning(pid)) return;
  process.kill(pid, "SIGTERM");
  for (const end = performance.now() + endMillisecondsMax; isRunning(pid); ) {
    if (performance.now() > end) throw new Error(`the daemon ${pid} did not exit`);
    pauseThread(pollMilliseconds, "the exit of a process that is no child reports no event");
  }
}

function ownerOf(lock: string): number | null {
  try {
    return Number(JSON.parse(readFileSync(lock, "utf8")).pid);
  } catch {
    return null;
  }
}
