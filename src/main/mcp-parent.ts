// Who started the server: a client, which belongs to the session from then on, or a person at a shell, who does not. What stands
// between a client and us, a script or a package manager, is not the client.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ROOTS } from "../daemon/control/person-evidence.ts";

/** Shells as people use them. A client that calls itself so gains nothing: it runs as the user either way. */
const SHELLS: ReadonlySet<string> = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "nu", "sh", "tcsh", "zsh"]);

/** What only starts another program. */
const BETWEEN: ReadonlySet<string> = new Set([
  ...SHELLS,
  "bun",
  "deno",
  "env",
  "npm",
  "npx",
  "pnpm",
  "pnpx",
  "uvx",
  "yarn",
]);
const STARTER = /(?:^|\/)(?:npm|npx|pnpm|yarn)(?:-cli)?(?:\.[cm]?js)?$/;
const levelsMax = 16;

/**
 * How many processes up the client is that the session belongs to: 1 is who started us, 0 is nobody but ourselves. The shell a
 * person types into is a person, and what everything descends from is no client.
 */
export function clientLevel(parent: number): number {
  let [level, pid] = [0, parent];
  while (level < levelsMax) {
    const seen = pid > 1 ? seenProcess(pid) : null;
    if (seen === null || isPersons(seen) || ROOTS.has(seen.name)) return level;
    level++;
    if (!BETWEEN.has(seen.name) && !seen.isStarter) return level;
    pid = seen.parent;
  }
  return level;
}

interface SeenProcess {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Such as `npx`, which is a script that node runs. */
  readonly isStarter: boolean;
}

/** It leads what runs on its terminal. */
function isPersons({ pid, name, session, hasTerminal }: SeenProcess): boolean {
  return SHELLS.has(name) && session === pid && hasTerminal;
}

function seenProcess(pid: number): SeenProcess | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [open, close] = [text.indexOf("("), text.lastIndexOf(")")];
    const name = text.slice(open + 1, close).replace(/^-/, "");
    // State, parent, group, session, terminal.
    const [, parent, , session, terminal] = text.slice(close + 2).split(" ");
    const [, script = ""] = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
    // Npm gives itself a title, which is all there is to see of it then.
    const isStarter = /^npm /.test(name) || STARTER.test(script);
    return {
      pid,
      name,
      parent: Number(parent),
      session: Number(session),
      hasTerminal: terminal !== "0",
      isStarter,
    };
  } catch {
    return null;
  }
}

/** Whether nobody is left who could read an answer: who started us is gone, or has closed its end of the pipe. */
export function isClientGone(parent: number): boolean {
  return process.ppid !== parent || isWithoutReader(1);
}

/** A pipe that nobody reads cannot be opened for writing. Of anything else that cannot be told. */
function isWithoutReader(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isFIFO()) return false;
    closeSync(openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENXIO";
  }
}
