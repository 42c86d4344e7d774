// A separate state for a test, as `ambit daemon start` leaves one behind: then the daemon starts there automatically. It also
// exits by itself as soon as the folder is gone.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Both as the XDG variables name them. */
export function prepareState(stateHome: string, configHome: string): void {
  const state = join(stateHome, "ambit");
  const daemon = join(state, "daemon");
  mkdirSync(daemon, { recursive: true });
  for (const folder of [state, daemon]) chmodSync(folder, 0o700);
  writeFileSync(join(daemon, "config-folder"), `${join(configHome, "ambit")}\n`, { mode: 0o600 });
}
