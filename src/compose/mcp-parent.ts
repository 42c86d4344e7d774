// Who started the server: a client, which belongs to the session from then on, or a person at a shell, who does not.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Shells as people use them. A client that calls itself so gains nothing: it runs as the user either way. */
const SHELLS: ReadonlySet<string> = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "nu", "sh", "tcsh", "zsh"]);

/** Whether the process that started us is the shell a person types into: it leads what runs on its terminal. */
export function isPersonsShell(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [open, close] = [text.indexOf("("), text.lastIndexOf(")")];
    const name = text.slice(open + 1, close).replace(/^-/, "");
    // State, parent, group, session, terminal.
    const [, , , session, terminal] = text.slice(close + 2).split(" ");
    return SHELLS.has(name) && Number(session) === pid && terminal !== "0";
  } catch {
    return false;
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
