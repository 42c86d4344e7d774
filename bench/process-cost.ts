// The cost of a process from start to exit: CPU of all its threads, and wall-clock time.
import { type SpawnSyncOptionsWithStringEncoding, spawnSync } from "node:child_process";
import { join } from "node:path";
import { rootFolder } from "./place.ts";

export interface Spent {
  /** Nanoseconds, to the millisecond. */
  readonly cpu: number;
  readonly wall: number;
}

export function programOf(name: string): string {
  return join(rootFolder, "bin", name);
}

/** Node does not report a child's CPU time; bash does. The arguments are passed as arguments, never as a line. */
const SCRIPT = "TIMEFORMAT='%3U %3S %3R'; time \"$@\" >/dev/null 2>&1";

export function spend(argv: readonly string[], cwd: string, home: string): Spent {
  const { stderr, error } = spawnSync("bash", ["-c", SCRIPT, "bash", ...argv], options(cwd, home));
  if (error !== undefined) throw error;
  const [user, system, wall] = stderr.trim().split(" ").map(Number);
  if (user === undefined || system === undefined || wall === undefined || Number.isNaN(user + system + wall))
    throw new Error(`bash did not report the cost of ${argv.join(" ")}: ${stderr}`);
  return { cpu: (user + system) * 1e9, wall: wall * 1e9 };
}

export function startCost(
  argv: readonly string[],
  cwd: string,
  home: string,
): { readonly status: number | null; readonly error: string } {
  const [program = "", ...rest] = argv;
  const { status, stdout, stderr } = spawnSync(program, rest, options(cwd, home));
  return { status, error: `${stderr}${stdout}`.slice(0, 1000) };
}

/** With its own user configuration and state, and without settings that slow down every Node (certificates, preloads). */
function options(cwd: string, home: string): SpawnSyncOptionsWithStringEncoding {
  const { PATH } = process.env;
  const env = { PATH, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state"), LC_ALL: "C" };
  return { cwd, env, encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"] };
}
