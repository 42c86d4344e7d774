// Runs the built program as a user does: a process, its output, its exit status.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareState } from "../house/daemon-state.ts";
import { writeFiles } from "../house/files.ts";
import { ownFolder } from "../house/own-folder.ts";
import { removeState } from "../house/remove-state.ts";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Separate state and configuration for every test file, so that no test trusts anything for the person who runs it. */
const own = ownFolder("ambit-own-");
prepareState(join(own, "state"), join(own, "config"));
export const environment: NodeJS.ProcessEnv = {
  ...process.env,
  NO_COLOR: "1",
  XDG_STATE_HOME: join(own, "state"),
  XDG_CONFIG_HOME: join(own, "config"),
};

export function ambit(cwd: string, ...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd,
    encoding: "utf8",
    env: environment,
    timeout: 60_000,
  });
  return { status, out: stdout, err: stderr };
}

/** A folder of files that is removed after the callback. */
export function inFolder<T>(files: Readonly<Record<string, string | Uint8Array>>, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "ambit-"));
  try {
    writeFiles(folder, files);
    return use(folder);
  } finally {
    removeState(folder);
  }
}
