// Processes as the kernel shows them: who somebody is, and whom it descends from.
import { readFileSync } from "node:fs";

export interface ProcessMark {
  readonly pid: number;
  /** In the kernel's own count: a number given out again is another process. */
  readonly start: string;
  /** The process session it is in. */
  readonly session: number;
  /** The device number of its controlling terminal; 0 where it has none. */
  readonly terminal: number;
  readonly name: string;
  /** The account it runs as; null where the kernel does not say. */
  readonly uid: number | null;
}

export interface SeenProcess {
  readonly pid: number;
  readonly uid: number;
  readonly start: string;
  /** Itself first. */
  readonly ancestors: readonly ProcessMark[];
  readonly terminal: boolean;
}

/** `isWhole`: the ancestors reach up to the first process there is. */
export type SeenPeer =
  | { readonly isFound: true; readonly peer: SeenProcess; readonly isWhole: boolean }
  | { readonly isFound: false };

export const ancestorsMax = 64;
/** A process may get another parent while it is looked at; this often is often enough. */
const looksMax = 8;

/** `start` as it was when it connected; not found where the number stands for another process by now. */
export function lookAtPeer(pid: number, uid: number, start: string): SeenPeer {
  const own = statOf(pid);
  if (own === null || own.start !== start) return { isFound: false };
  const { ancestors, isWhole } = ancestryOf(own);
  // Looked at again: if it is still there, all of it was read of the same process.
  if (statOf(pid)?.start !== start) return { isFound: false };
  return { isFound: true, peer: { pid, uid, start, ancestors, terminal: own.terminal !== 0 }, isWhole };
}

interface Stat extends Omit<ProcessMark, "uid"> {
  readonly parent: number;
}

function ancestryOf(first: Stat): { readonly ancestors: readonly ProcessMark[]; readonly isWhole: boolean } {
  const ancestors: ProcessMark[] = [];
  let at: Stat | null = first;
  while (at !== null && ancestors.length < ancestorsMax) {
    const { pid, start, session, terminal, name } = at;
    ancestors.push({ pid, start, session, terminal, name, uid: uidOf(pid) });
    if (at.parent === 0) return { ancestors, isWhole: true };
    at = parentOf(at);
  }
  return { ancestors, isWhole: false };
}

/** A parent that ends leaves its child to another: only a child that names it before and after tells who it was. */
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

/** Null for a process that has ended, or does not show. */
function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name stands in parentheses and may hold anything; what follows the last one is numbers.
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
