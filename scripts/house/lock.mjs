// One setup at a time: a folder is the lock, since creating a folder is atomic everywhere.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stopAll } from "./child.mjs";
import { root, say } from "./root.mjs";

const lock = join(root, ".setup-lock");
const waitMillisecondsMax = 15 * 60_000;
const pollMilliseconds = 100;
/** A lock whose process died before it wrote its pid. */
const namelessMillisecondsMax = 5_000;

/** Runs the work alone. The lock is released however the work ends; a lock left by a dead process is taken over. */
export async function alone(work) {
  await take();
  const release = () => rmSync(lock, { recursive: true, force: true });
  const interrupted = async (signal) => {
    await stopAll(signal);
    release();
    process.exit(signal === "SIGINT" ? 130 : 143);
  };
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    return await work();
  } finally {
    release();
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
}

async function take() {
  const until = Date.now() + waitMillisecondsMax;
  let told = false;
  while (!make()) {
    const holder = stale();
    if (holder !== undefined) {
      breakLock(holder);
      continue;
    }
    if (Date.now() > until) {
      throw new Error(`another setup has held ${lock} too long; if none is running, remove that folder`);
    }
    if (!told) say("another setup is running here, waiting for it");
    told = true;
    await pause(pollMilliseconds);
  }
}

function make() {
  try {
    mkdirSync(lock);
  } catch (problem) {
    if (problem.code === "EEXIST") return false;
    throw problem;
  }
  writeFileSync(join(lock, "pid"), String(process.pid));
  return true;
}

/** The pid in a lock whose holder is gone ("" if it never wrote one). */
function stale() {
  const holder = holderOf(lock);
  if (holder !== "") return alive(Number(holder)) ? undefined : holder;
  try {
    return Date.now() - statSync(lock).mtimeMs > namelessMillisecondsMax ? "" : undefined;
  } catch {
    return undefined;
  }
}

/** Moved aside before it is removed: of two processes that found it stale, only one may remove it. */
function breakLock(holder) {
  const aside = `${lock}-${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  if (holderOf(aside) === holder) {
    rmSync(aside, { recursive: true, force: true });
  } else {
    // Another process was quicker, and this is its live lock: put it back.
    renameSync(aside, lock);
  }
}

function holderOf(folder) {
  try {
    return readFileSync(join(folder, "pid"), "utf8").trim();
  } catch {
    return "";
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (problem) {
    return problem.code === "EPERM";
  }
}
