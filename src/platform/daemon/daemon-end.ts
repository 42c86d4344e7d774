// Stops the daemon from outside: for one that does not answer, or uses another protocol version.

import { type ProcessIdentity, stateOf } from "./process-identity.ts";
import { lastHolder } from "./state-lock.ts";

const orderlyMilliseconds = 15_000;
const killedMilliseconds = 5_000;
const lookMilliseconds = 25;

/** `absent`: no daemon runs. `stays`: it runs and belongs to another user. */
export type DaemonEnd = "absent" | "ended" | "stays";

/** Waits until the daemon has exited. `pid`: the process to wait for; a later daemon has another one. */
export async function awaitDaemonExit(lock: string, pid: number | null = null): Promise<DaemonEnd> {
  const daemon = lastHolder(lock);
  if (daemon === null || stateOf(daemon) === "gone" || (pid !== null && daemon.pid !== pid)) return "absent";
  return (await isGone(daemon, orderlyMilliseconds)) ? "ended" : "stays";
}

/** Sends SIGTERM, and after a timeout SIGKILL: the state on disk is consistent at every moment. */
export async function endDaemonProcess(lock: string): Promise<DaemonEnd> {
  const daemon = lastHolder(lock);
  if (daemon === null || stateOf(daemon) === "gone") return "absent";
  for (const [signal, milliseconds] of [
    ["SIGTERM", orderlyMilliseconds] as const,
    ["SIGKILL", killedMilliseconds] as const,
  ]) {
    // A pid is valid in its own namespace only, and is reused.
    if (stateOf(daemon) === "elsewhere") return "stays";
    try {
      process.kill(daemon.pid, signal);
    } catch {
      // Exited just now, or owned by another user.
    }
    if (await isGone(daemon, milliseconds)) return "ended";
  }
  return "stays";
}

async function isGone(daemon: ProcessIdentity, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    if (stateOf(daemon) === "gone") return true;
    await new Promise((done) => setTimeout(done, lookMilliseconds));
  }
  return stateOf(daemon) === "gone";
}
