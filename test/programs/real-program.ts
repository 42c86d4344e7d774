// Runs a real program in a test's own folder, with nothing of the environment but what it needs.
import { spawnSync } from "node:child_process";

const runMillisecondsMax = 20_000;

export interface RunFolder {
  /** Also the home folder. */
  readonly folder: string;
  /** The folder itself where it is not given. */
  readonly cwd?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Everything it printed, and why it could not be started. */
export function runProgram(argv: readonly string[], { folder, cwd = folder, variables = {} }: RunFolder): string {
  const [program = "", ...words] = argv;
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: folder,
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@a.invalid",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@a.invalid",
    GIT_TERMINAL_PROMPT: "0",
    ...variables,
  };
  const done = spawnSync(program, words, { cwd, env, input: "", encoding: "utf8", timeout: runMillisecondsMax });
  return `${done.stdout ?? ""}${done.stderr ?? ""}${done.error ?? ""}`;
}
