// The daemon's log: timestamped lines in one private file, rotated with two older files.
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

const NAME = "daemon.log";
const logBytesMax = 1_048_576;
const lineCharactersMax = 8_192;
const olderKept = 2;

export function logFile(folder: string): string {
  return join(folder, NAME);
}

/** Opens the log for appending and rotates it where it is too large. Throws as the file system does. */
export function openDaemonLog(folder: string): number {
  const file = open(folder);
  if (fstatSync(file).size < logBytesMax) return file;
  closeSync(file);
  for (let age = olderKept; age > 0; age--) moveBehind(folder, age);
  return open(folder);
}

/** Never throws: a line that cannot be written is lost, and the daemon continues. */
export function daemonLog(folder: string): (line: string) => void {
  return (line) => {
    try {
      const file = openDaemonLog(folder);
      try {
        writeSync(file, `${new Date().toISOString()} ${process.pid} ${line.slice(0, lineCharactersMax)}\n`);
      } finally {
        closeSync(file);
      }
    } catch {
      // A full disk, or a folder that is gone.
    }
  };
}

/** The last lines; null where there is no log. */
export function logTail(folder: string, linesMax: number): readonly string[] | null {
  try {
    const file = openSync(logFile(folder), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, logBytesMax));
      const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes.subarray(0, read).toString("utf8").split("\n").slice(0, -1).slice(-linesMax);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function open(folder: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return openSync(logFile(folder), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
}

function moveBehind(folder: string, age: number): void {
  const from = age === 1 ? logFile(folder) : `${logFile(folder)}.${age - 1}`;
  try {
    renameSync(from, `${logFile(folder)}.${age}`);
  } catch {
    // Fewer files so far, or another process rotated first.
  }
}
