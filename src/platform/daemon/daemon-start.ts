// Starts the daemon when none is running: of all clients that need it one starts it, the others wait for it.
import { spawn } from "node:child_process";
import { closeSync, lstatSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Answer, NO_DAEMON, type Refusal } from "../../core/ports/daemon/exchange.ts";
import { isSameFolder, userFolders } from "../folders.ts";
import { openDaemonLog } from "./daemon-log.ts";
import { takeLock } from "./state-lock.ts";

const startMillisecondsMax = 15_000;
/** Poll interval while waiting for a daemon, and how many polls pass between two attempts to take the start lock. */
const lookMilliseconds = 40;
const looksPerTry = 10;
const announcementCharactersMax = 16_384;
const READY_PIPE = 3;
/** Some Node versions call their built-in database experimental and would log a warning at every start. */
const QUIET: readonly string[] = ["--disable-warning=ExperimentalWarning"];

export interface DaemonLocation {
  readonly state: string;
  /** From the password database. */
  readonly home: string | null;
  /** A person asked for the daemon explicitly: its folder is then created wherever the state folder is. */
  readonly isByName: boolean;
}

export interface StartOptions<T> extends DaemonLocation {
  /** Paths of the daemon's program and of our native program. */
  readonly bundle: string;
  readonly native: string;
  readonly idleSeconds: number;
  /** `not_available` where no daemon is running. */
  connect(folder: string): Promise<Answer<T>>;
  /** Creates the daemon's folder if it is missing. */
  makeFolder(folder: string): Answer<null>;
}

export function daemonFolder(state: string): string {
  return join(state, "daemon");
}

/** Connects; starts the daemon first if none is running. */
export async function connectStarting<T>(asked: StartOptions<T>): Promise<Answer<T>> {
  const folder = daemonFolder(asked.state);
  const connected = await asked.connect(folder);
  if (connected.ok || connected.code !== NO_DAEMON) return connected;
  const unstarted = notStarted(asked);
  if (unstarted !== null) return unstarted;
  const made = mayMake(asked) ? asked.makeFolder(folder) : MADE;
  if (!made.ok) return made;
  const until = performance.now() + startMillisecondsMax;
  for (let look = 0; performance.now() < until; look++) {
    const before = await asked.connect(folder);
    if (before.ok || before.code !== NO_DAEMON) return before;
    if (look % looksPerTry === 0) {
      const refused = await tryStart(asked, folder, until);
      if (refused !== null && refused.code !== "owned") return refused;
      if (refused === null) continue;
    }
    await pause(lookMilliseconds);
  }
  return unavailable("the daemon did not start in time", "ambit daemon logs");
}

/**
 * Any process can set the variable that names the state folder: an agent must not get a daemon with an empty history by
 * setting it. Outside the default location, the daemon's folder must therefore exist already, created for a person.
 * This holds below the home folder too, most of which an agent may write to.
 */
function mayMake({ state, home, isByName }: DaemonLocation): boolean {
  if (isByName) return true;
  const { state: own } = userFolders({ environment: {}, home, workspace: null });
  return own !== null && !state.includes("\0") && isSameFolder(state, own);
}

/** Why no daemon is started here; null where one is started on demand. */
export function notStarted(where: DaemonLocation): Refusal | null {
  if (mayMake(where)) return null;
  const folder = daemonFolder(where.state);
  try {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return null;
  } catch {
    // What cannot be examined counts as missing.
  }
  return unavailable(
    `no daemon is running for ${folder}; ambit starts one automatically only for the default state folder`,
    "ambit daemon start",
  );
}

const MADE: Answer<null> = { ok: true, value: null };

/**
 * Null: a daemon is running now. `owned`: another process starts it, or a daemon that is exiting still owns the state.
 */
async function tryStart<T>(asked: StartOptions<T>, folder: string, until: number): Promise<Refusal | null> {
  const lock = takeLock({ path: join(folder, "starting.lock"), native: asked.native });
  if (!lock.ok) return lock;
  try {
    // The previous holder of the lock may have started it.
    const connected = await asked.connect(folder);
    if (connected.ok) {
      (connected.value as { close?(): void }).close?.();
      return null;
    }
    return connected.code === NO_DAEMON ? await start(asked, folder, until) : connected;
  } finally {
    lock.value.release();
  }
}

async function start<T>(
  { bundle, state, home, idleSeconds }: StartOptions<T>,
  folder: string,
  until: number,
): Promise<Refusal | null> {
  let log: number;
  try {
    log = openDaemonLog(folder);
  } catch {
    return unavailable(`the daemon's log in ${folder} cannot be written`, `check its permissions: ls -l ${folder}`);
  }
  const words = [...QUIET, bundle, "--state", state, "--idle", String(idleSeconds), "--announce"];
  const child = spawn(process.execPath, words, {
    // The daemon inherits nothing from the first client that needs it. INVARIANT: its home folder is the one of the command, also for a user
    // id that the password database does not know: it reads the same configuration, with its ceiling.
    env: { PATH: "/usr/bin:/bin", ...(home === null ? {} : { HOME: home }) },
    cwd: "/",
    detached: true,
    stdio: ["ignore", log, log, "pipe"],
  });
  closeSync(log);
  const said = await announcementOf(child, until);
  child.unref();
  (child.stdio as readonly unknown[] as readonly (Readable | undefined)[])[READY_PIPE]?.destroy();
  if (said === "ready") return null;
  return readRefusal(said) ?? unavailable("the daemon did not start", "ambit daemon logs");
}

/** The line the daemon prints when it is ready; null where it exits or takes too long. */
function announcementOf(child: ReturnType<typeof spawn>, until: number): Promise<string> {
  return new Promise((give) => {
    let text = "";
    const timer = setTimeout(() => give(""), Math.max(0, until - performance.now()));
    const end = (said: string): void => {
      clearTimeout(timer);
      give(said);
    };
    const pipe = (child.stdio as readonly unknown[] as readonly (Readable | undefined)[])[READY_PIPE];
    pipe?.on("error", () => undefined);
    pipe?.on("data", (bytes: Buffer) => {
      text = (text + bytes.toString("utf8")).slice(0, announcementCharactersMax);
      if (text.includes("\n")) end(text.slice(0, text.indexOf("\n")));
    });
    pipe?.on("close", () => end(""));
    child.once("error", () => end(""));
  });
}

function readRefusal(text: string): Refusal | null {
  try {
    const { code, message, fix } = JSON.parse(text) as Partial<Refusal>;
    if (typeof code !== "string" || typeof message !== "string") return null;
    return { ok: false, code, message, fix: typeof fix === "string" ? fix : null };
  } catch {
    return null;
  }
}

function unavailable(message: string, fix: string): Refusal {
  return { ok: false, code: NO_DAEMON, message, fix };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
