// Starting the daemon where nobody serves: one of those who want it starts it, the others wait for that one.
import { spawn } from "node:child_process";
import { closeSync, lstatSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Answer, Refusal } from "../../core/ports/daemon/exchange.ts";
import { isSameFolder, userFolders } from "../folders.ts";
import { openDaemonLog } from "./daemon-log.ts";
import { takeLock } from "./owner-lock.ts";

const startMillisecondsMax = 15_000;
/** Between two looks whether somebody serves; and of those, every so many one tries to be the one who starts. */
const lookMilliseconds = 40;
const looksPerTry = 10;
const announcementCharactersMax = 16_384;
const READY_PIPE = 3;
/** Some versions of Node call the database they bring along experimental, and would say so in the log at every start. */
const QUIET: readonly string[] = ["--disable-warning=ExperimentalWarning"];

export interface Whereabouts {
  readonly state: string;
  /** From the password database. */
  readonly home: string | null;
  /** A person asked for the daemon by name: then its folder is made wherever the state lies. */
  readonly isByName: boolean;
}

export interface StartAsked<T> extends Whereabouts {
  /** The daemon's program, and our native one. */
  readonly bundle: string;
  readonly native: string;
  readonly idleSeconds: number;
  /** `not_available` where nobody serves. */
  connect(folder: string): Promise<Answer<T>>;
  /** Makes the daemon's folder where it is not there. */
  makeFolder(folder: string): Answer<null>;
}

export function daemonFolder(state: string): string {
  return join(state, "daemon");
}

/** Connects; where nobody serves, starts the daemon first. */
export async function connectStarting<T>(asked: StartAsked<T>): Promise<Answer<T>> {
  const folder = daemonFolder(asked.state);
  const connected = await asked.connect(folder);
  if (connected.ok || connected.code !== "not_available") return connected;
  const unstarted = notStarted(asked);
  if (unstarted !== null) return unstarted;
  const made = mayMake(asked) ? asked.makeFolder(folder) : MADE;
  if (!made.ok) return made;
  const until = performance.now() + startMillisecondsMax;
  for (let look = 0; performance.now() < until; look++) {
    const before = await asked.connect(folder);
    if (before.ok || before.code !== "not_available") return before;
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
 * A state folder named by a variable is anybody's choice: an agent that sets it must not get a daemon without a past. So
 * anywhere but at the one place the password database leads to there has to be a daemon's folder already, made for a
 * person; below the home folder, too, for much of that is an agent's to write to.
 */
function mayMake({ state, home, isByName }: Whereabouts): boolean {
  if (isByName) return true;
  const { state: own } = userFolders({ environment: {}, home, workspace: null });
  return own !== null && !state.includes("\0") && isSameFolder(state, own);
}

/** Why none is started here; null where one is when it is needed. */
export function notStarted(where: Whereabouts): Refusal | null {
  if (mayMake(where)) return null;
  const folder = daemonFolder(where.state);
  try {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return null;
  } catch {
    // Not to be seen is not there.
  }
  return unavailable(
    `no daemon is running for ${folder}; ambit starts one automatically only for the default state folder`,
    "ambit daemon start",
  );
}

const MADE: Answer<null> = { ok: true, value: null };

/** Null: it serves now. `owned`: somebody else starts it, or one that ends still has the state. */
async function tryStart<T>(asked: StartAsked<T>, folder: string, until: number): Promise<Refusal | null> {
  const lock = takeLock({ path: join(folder, "starting.lock"), native: asked.native });
  if (!lock.ok) return lock;
  try {
    // Whoever had the lock before us may have started it.
    const connected = await asked.connect(folder);
    if (connected.ok) {
      (connected.value as { close?(): void }).close?.();
      return null;
    }
    return connected.code === "not_available" ? await start(asked, folder, until) : connected;
  } finally {
    lock.value.release();
  }
}

async function start<T>(
  { bundle, state, idleSeconds }: StartAsked<T>,
  folder: string,
  until: number,
): Promise<Refusal | null> {
  let log: number;
  try {
    log = openDaemonLog(folder);
  } catch {
    return unavailable(`the daemon's log in ${folder} cannot be written`, `look at it: ls -l ${folder}`);
  }
  const words = [...QUIET, bundle, "--state", state, "--idle", String(idleSeconds), "--announce"];
  const child = spawn(process.execPath, words, {
    // Nothing of whoever happens to be the first to need it.
    env: { PATH: "/usr/bin:/bin" },
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

/** The one line it says, or nothing where it ends or takes too long. */
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
  return { ok: false, code: "not_available", message, fix };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
