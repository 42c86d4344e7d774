// The folder of the daemon's sockets: owned by the account, mode 0700, and verified to stay the same folder.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { noDaemon } from "./refusals.ts";
import type { SocketName } from "./serving.ts";

const SOCKET_NAMES: readonly SocketName[] = ["call", "control"];

/** Creates the folder and the state folder above it, if missing. */
export function makeDaemonFolder(path: string): Answer<null> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, "EEXIST")) return refusal("not_available", `${path} cannot be created: ${wordsOf(error)}`);
  }
  return { ok: true, value: null };
}

/** `not_available` if there is none; everything else wrong with it is `folder_refused`. */
export function openDaemonFolder(path: string): Answer<DaemonFolder> {
  if (process.platform !== "linux")
    return noDaemon(`the daemon does not run on ${process.platform} yet`, "run it on Linux");
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isCode(error, "ENOENT")) return noDaemon("no daemon is running", "ambit daemon start");
    return refused(
      `${path} cannot be opened as a folder: ${wordsOf(error)}`,
      `check its owner and permissions: ls -ld ${path}`,
    );
  }
  const wrong = problemOf(path, descriptor);
  if (wrong === null) return { ok: true, value: new DaemonFolder(path, descriptor) };
  closeSync(descriptor);
  return wrong;
}

export class DaemonFolder {
  readonly path: string;
  readonly descriptor: number;
  #sockets: readonly string[] = [];
  #isOpen = true;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.descriptor = descriptor;
  }

  /** Addressed by file descriptor, not by path: short enough for a socket address, and never another folder. */
  within(name: string): string {
    return `/proc/self/fd/${this.descriptor}/${name}`;
  }

  socket(socketName: SocketName): string {
    return this.within(`${socketName}.sock`);
  }

  /** Records the identity of the sockets in it. False if they are missing. */
  note(): boolean {
    this.#sockets = SOCKET_NAMES.map((socketName) => markAt(this.socket(socketName)));
    return !this.#sockets.includes("");
  }

  /** Whether the path still leads to this folder, and its sockets are the recorded ones. */
  isInPlace(): boolean {
    const [own, there] = [markOf(fstatSync(this.descriptor)), markAt(this.path)];
    return (
      own === there && SOCKET_NAMES.every((socketName, at) => markAt(this.socket(socketName)) === this.#sockets[at])
    );
  }

  /** Removes the recorded sockets and no others. */
  removeSockets(): void {
    for (const [at, socketName] of SOCKET_NAMES.entries()) {
      const mark = markAt(this.socket(socketName));
      if (mark === "" || mark !== this.#sockets[at]) continue;
      try {
        unlinkSync(this.socket(socketName));
      } catch {
        // Removed concurrently.
      }
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }
}

/** The parent folder decides who may replace this one. */
function problemOf(path: string, descriptor: number): Answer<never> | null {
  const own = process.geteuid?.();
  const folder = fstatSync(descriptor);
  if (folder.uid !== own) return refused(`${path} belongs to another user`, "run ambit as the user it belongs to");
  if ((folder.mode & 0o077) !== 0) return refused(`${path} is open to other users`, `chmod 700 ${path}`);
  const above = dirname(path);
  const around = statSync(above, { throwIfNoEntry: false });
  if (around === undefined) return noDaemon("no daemon is running", "ambit daemon start");
  if (around.uid !== own) return refused(`${above} belongs to another user`, "run ambit as the user it belongs to");
  if ((around.mode & 0o022) !== 0) return refused(`${above} can be changed by other users`, `chmod go-w ${above}`);
  return null;
}

function refused(message: string, fix: string): Answer<never> {
  return refusal("folder_refused", message, fix);
}

function markOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Does not follow symlinks; empty if missing. */
function markAt(path: string): string {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined ? "" : markOf(found);
  } catch {
    return "";
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function wordsOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
