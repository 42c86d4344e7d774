// Processes as the kernel reports them: identity and ancestors.
import { readFileSync, readlinkSync, statSync } from "node:fs";

export interface ProcessMark {
  readonly pid: number;
  /** Start time in the kernel's clock ticks: a reused pid has another one. */
  readonly start: string;
  /** The session id of the process. */
  readonly session: number;
  /** The device number of its controlling terminal; 0 for none. */
  readonly terminal: number;
  readonly name: string;
  /** The account it runs as; null where the kernel does not say. */
  readonly uid: number | null;
  readonly input: ProcessInput;
  /** Its executable, where root owns the file and others cannot write it; else null. */
  readonly program: string | null;
}

/** Standard input: a pipe or socket, a terminal, anything else or nothing; unknown where the kernel does not tell. */
type ProcessInput = "channel" | "terminal" | "other" | "unknown";

export interface ProcessInfo {
  readonly pid: number;
  readonly uid: number;
  readonly start: string;
  /** The process itself first. */
  readonly ancestors: readonly ProcessMark[];
  readonly terminal: boolean;
}

/** `isWhole`: the ancestors reach up to pid 1 of the namespace. */
export type PeerResult =
  | { readonly isFound: true; readonly peer: ProcessInfo; readonly isWhole: boolean }
  | { readonly isFound: false };

export const ancestorsMax = 64;
/** A process may get another parent while it is read; the read is repeated this many times at most. */
const looksMax = 8;

/** `start`: the start time at connect. Not found where the pid belongs to another process by now. */
export function readPeer(pid: number, uid: number, start: string): PeerResult {
  const own = statOf(pid);
  if (own === null || own.start !== start) return { isFound: false };
  const { ancestors, isWhole } = ancestryOf(own);
  // Read again: if the process is unchanged, all of it was read from the same process.
  if (statOf(pid)?.start !== start) return { isFound: false };
  return { isFound: true, peer: { pid, uid, start, ancestors, terminal: own.terminal !== 0 }, isWhole };
}

interface Stat extends Omit<ProcessMark, "uid" | "input" | "program"> {
  readonly parent: number;
}

function ancestryOf(first: Stat): { readonly ancestors: readonly ProcessMark[]; readonly isWhole: boolean } {
  const ancestors: ProcessMark[] = [];
  let at: Stat | null = first;
  while (at !== null && ancestors.length < ancestorsMax) {
    const { pid, start, session, terminal, name } = at;
    ancestors.push({
      pid,
      start,
      session,
      terminal,
      name,
      uid: uidOf(pid),
      input: inputOf(pid),
      program: programOf(pid),
    });
    if (at.parent === 0) return { ancestors, isWhole: true };
    at = parentOf(at);
  }
  return { ancestors, isWhole: false };
}

/**
 * When a parent exits, its child gets another: the parent counts only if the child names it before and after the read.
 */
function parentOf(child: Stat): Stat | null {
  let known: Stat = child;
  for (let look = 0; look < looksMax; look++) {
    const parent = statOf(known.parent);
    const again = statOf(child.pid);
    if (again === null || again.start !== child.start) return null;
    if (parent !== null && again.parent === known.parent) return parent;
    known = again;
  }
  return null;
}

/** By its own words in `/proc`: the owner of its folder there is another one where it does not let itself be traced. */
function uidOf(pid: number): number | null {
  try {
    const [, real] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return real === undefined ? null : Number(real);
  } catch {
    return null;
  }
}

/** Device numbers of pseudo-terminals, consoles and `/dev/tty`. */
const TERMINALS: ReadonlySet<number> = new Set([4, 5, 136, 137, 138, 139, 140, 141, 142, 143]);

function inputOf(pid: number): ProcessInput {
  try {
    const stat = statSync(`/proc/${pid}/fd/0`);
    if (stat.isFIFO() || stat.isSocket()) return "channel";
    return stat.isCharacterDevice() && TERMINALS.has(majorOf(stat.rdev)) ? "terminal" : "other";
  } catch {
    return "unknown";
  }
}

function majorOf(device: number): number {
  return Math.floor(device / 256) % 4096;
}

function programOf(pid: number): string | null {
  try {
    const { uid, mode } = statSync(`/proc/${pid}/exe`);
    return uid === 0 && (mode & 0o022) === 0 ? readlinkSync(`/proc/${pid}/exe`) : null;
  } catch {
    return null;
  }
}

/** Null for a process that has exited or cannot be read. */
function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may contain anything; numbers follow the last parenthesis.
    const [open, close] = [text.indexOf("("), text.lastIndexOf(")")];
    const fields = text.slice(close + 2).split(" ");
    const [state, parent, , session, terminal] = fields;
    const start = fields[19];
    if (state === "Z" || state === "X" || start === undefined) return null;
    const name = text.slice(open + 1, close);
    return { pid, start, parent: Number(parent), session: Number(session), terminal: Number(terminal), name };
  } catch {
    return null;
  }
}
