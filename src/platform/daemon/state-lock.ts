// The state's lock: a kernel lock on a file. The lock belongs to our open file description, so it is released
// when our process ends for any reason, and at no other time: no child process inherits the description.

import { spawnSync } from "node:child_process";
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { errorCode } from "../../core/base/error-code.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { nativeProblem } from "../native-program.ts";
import { identityText, ownIdentity, type ProcessIdentity, readIdentity } from "./process-identity.ts";

const FILE = 3;
const lockMillisecondsMax = 10_000;
const identityCharactersMax = 1_024;

export interface LockHandle {
  release(): void;
}

export interface LockOptions {
  /** Absolute; created if missing. */
  readonly path: string;
  /**
   * Our native program takes the lock, because Node has no API for it: a lock that a child takes on our open file
   * description is ours.
   */
  readonly native: string;
}

/** Takes the lock of the state, and disables core dumps of this process. `owned` where another process has it. */
export function takeStateLock(runLockCommand: LockOptions): Answer<LockHandle> {
  return take(runLockCommand, "own");
}

/** The process that took it last, running or not. */
export function lastHolder(path: string): ProcessIdentity | null {
  try {
    return readIdentity(readFileSync(path, "utf8").slice(0, identityCharactersMax));
  } catch {
    return null;
  }
}

/** Takes any other lock: `owned` where another process has it. */
export function takeLock(runLockCommand: LockOptions): Answer<LockHandle> {
  return take(runLockCommand, "lock");
}

function take({ path, native }: LockOptions, word: "lock" | "own"): Answer<LockHandle> {
  let file: number;
  try {
    const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    return refused(`the lock ${path} cannot be opened: ${errorCode(error)}`, null);
  }
  const answer = fstatSync(file).isFile()
    ? runLockCommand(native, word, file)
    : refused(`${path} is not a file`, `rm ${path}`);
  if (!answer.ok) {
    closeSync(file);
    return answer;
  }
  if (word === "own") sign(file);
  let isHeld = true;
  return {
    ok: true,
    value: {
      release: () => {
        if (isHeld) closeSync(file);
        isHeld = false;
      },
    },
  };
}

/** Used to end a daemon that does not answer. The lock does not depend on it. */
function sign(file: number): void {
  try {
    ftruncateSync(file, 0);
    writeSync(file, identityText(ownIdentity()), 0);
  } catch {
    // No space left on the device.
  }
}

function runLockCommand(native: string, word: string, file: number): Answer<null> {
  const problem = nativeProblem(native);
  if (problem !== null) return refused(problem.message, problem.fix);
  const { status, error, stderr } = spawnSync(native, [word, String(FILE)], {
    env: {},
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe", file],
    encoding: "utf8",
    timeout: lockMillisecondsMax,
    killSignal: "SIGKILL",
  });
  if (status === 0) return { ok: true, value: null };
  if (status === 1) return { ok: false, code: "owned", message: "another daemon owns this state folder", fix: null };
  return refused(`the lock cannot be acquired: ${stderr?.trim() || errorCode(error)}`, null);
}

function refused(message: string, fix: string | null): Answer<never> {
  return { ok: false, code: "not_available", message, fix };
}
