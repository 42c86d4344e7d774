// Calls that were refused because no daemon was running: clients append them to a small private file in the state
// folder, which the next daemon reads and removes.
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type Json } from "../../core/base/json.ts";
import type { RefusedCall } from "../../core/ports/daemon/refused-call.ts";

const NAME = "refused-calls.jsonl";
const TAKEN = "refused-calls.taken";
export const spoolBytesMax: number = 256 * 1024;
/** The most entries that one append to the log takes. */
export const spoolCallsMax = 1000;
const textCharactersMax = 512;

/** Never throws: the call is refused either way. False where it could not be stored, or the file is full. */
export function keepRefusedCall(state: string, call: RefusedCall): boolean {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  try {
    const file = openSync(join(state, NAME), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const line = Buffer.from(`${JSON.stringify(boundedCall(call))}\n`);
      const found = fstatSync(file);
      if (!isOurs(found) || found.size + line.length > spoolBytesMax) return false;
      // One write call: lines of two processes do not mix.
      return writeSync(file, line) === line.length;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

export interface RefusedCalls {
  readonly calls: readonly RefusedCall[];
  /** Whether the file was full, so that calls may be missing. */
  readonly isFull: boolean;
  /** Called once they are in the log: removes the file. */
  done(): void;
}

/** The stored calls. A file that an earlier daemon took and did not log comes first. Its content is untrusted. */
export function takeRefusedCalls(state: string): RefusedCalls {
  const taken = join(state, TAKEN);
  const done = (): void => rmSync(taken, { force: true });
  if (readSpool(taken) === null) {
    try {
      renameSync(join(state, NAME), taken);
    } catch {
      return { calls: [], isFull: false, done: () => undefined };
    }
  }
  const text = readSpool(taken) ?? "";
  const lines = text.split("\n").slice(0, -1);
  const calls = lines.flatMap((line) => callIn(line) ?? []).slice(0, spoolCallsMax);
  return { calls, isFull: text.length > spoolBytesMax - 4 * textCharactersMax || lines.length > spoolCallsMax, done };
}

/** Null where there is no such file, or another user owns it. */
function readSpool(path: string): string | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!isOurs(found)) return null;
      const bytes = Buffer.alloc(Math.min(found.size, spoolBytesMax));
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function isOurs(found: { isFile(): boolean; readonly uid: number; readonly mode: number }): boolean {
  return found.isFile() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}

function boundedCall({ at, agent, tool, face, cwd, reason }: RefusedCall): RefusedCall {
  return { at, agent: maybe(agent), tool: maybe(tool), face: cut(face), cwd: cut(cwd), reason: cut(reason) };
}

/** Null for a line that does not parse. */
function callIn(line: string): RefusedCall | null {
  const value = parsed(line);
  if (!isJsonObject(value)) return null;
  const { at, agent = null, tool = null, face, cwd, reason } = value;
  if (typeof at !== "number" || !Number.isSafeInteger(at) || typeof reason !== "string") return null;
  if (typeof face !== "string" || typeof cwd !== "string") return null;
  if ([agent, tool].some((one) => one !== null && typeof one !== "string")) return null;
  return boundedCall({ at, agent: agent as string | null, tool: tool as string | null, face, cwd, reason });
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function maybe(text: string | null): string | null {
  return text === null ? null : cut(text);
}

function cut(text: string): string {
  return text.slice(0, textCharactersMax);
}
