// Finds the process that started the server: a client, which the session then belongs to, or a user's shell, which it
// does not. A script or a package manager between the client and us is not the client.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ROOTS } from "../daemon/control/person-evidence.ts";

/** Interactive shells. A client that takes such a name gains nothing: it runs as the user either way. */
const SHELLS: ReadonlySet<string> = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "nu", "sh", "tcsh", "zsh"]);

/** Programs that only start another program. */
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
 * How many processes up the client is that the session belongs to: 1 is our parent, 0 is no client but ourselves. The
 * shell a user types into is not a client, nor is the init process.
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
  /** For example `npx`, a script run by node. */
  readonly isStarter: boolean;
}

/** It leads the session of its terminal. */
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
    // npm sets its process title, which then hides its command line.
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

/** Whether no process can read an answer any more: our parent has exited, or has closed its end of the pipe. */
export function isClientGone(parent: number): boolean {
  return process.ppid !== parent || isWithoutReader(1);
}

/** A pipe without a reader cannot be opened for writing. Other descriptors do not show it. */
function isWithoutReader(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isFIFO()) return false;
    closeSync(openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENXIO";
  }
}
