// Who owns the state: a lock the kernel holds on a file. It is tied to our opening of the file, so it goes with our
// process whatever it dies of, and with nothing else: no child of ours keeps the opening.
import { spawnSync } from "node:child_process";
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { identityText, ownIdentity, type ProcessIdentity, readIdentity } from "./process-identity.ts";

const FILE = 3;
const lockMillisecondsMax = 10_000;
const identityCharactersMax = 1_024;

export interface HeldLock {
  release(): void;
}

export interface LockAsked {
  /** Absolute; made where it is not there. */
  readonly path: string;
  /** Our native program: Node has no word for a lock, and what a child takes on our opening is ours. */
  readonly native: string;
}

/** Of the state: whoever has it dumps no core from then on. `owned` where another process has it. */
export function takeOwnerLock(asked: LockAsked): Answer<HeldLock> {
  return take(asked, "own");
}

/** Who took it last; whether that one still runs is another question. */
export function lastOwner(path: string): ProcessIdentity | null {
  try {
    return readIdentity(readFileSync(path, "utf8").slice(0, identityCharactersMax));
  } catch {
    return null;
  }
}

/** Of anything else: `owned` where another process has it. */
export function takeLock(asked: LockAsked): Answer<HeldLock> {
  return take(asked, "lock");
}

function take({ path, native }: LockAsked, word: "lock" | "own"): Answer<HeldLock> {
  let file: number;
  try {
    const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    return refused(`the lock ${path} cannot be opened: ${codeOf(error)}`, null);
  }
  const answer = fstatSync(file).isFile() ? asked(native, word, file) : refused(`${path} is no file`, `rm ${path}`);
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

/** For whoever has to end an owner that does not answer any more. The lock holds without it. */
function sign(file: number): void {
  try {
    ftruncateSync(file, 0);
    writeSync(file, identityText(ownIdentity()), 0);
  } catch {
    // A full disk.
  }
}

function asked(native: string, word: string, file: number): Answer<null> {
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
  if (error !== undefined && codeOf(error) === "ENOENT")
    return refused("ambit's native program is not built", "npm run build");
  return refused(`the lock cannot be taken: ${stderr?.trim() || codeOf(error)}`, null);
}

function refused(message: string, fix: string | null): Answer<never> {
  return { ok: false, code: "not_available", message, fix };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
