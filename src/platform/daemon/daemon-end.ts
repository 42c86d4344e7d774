// Stops the daemon from outside: for one that does not answer, or uses another protocol version.
import { lastOwner } from "./owner-lock.ts";
import { type ProcessIdentity, stateOf } from "./process-identity.ts";

const orderlyMilliseconds = 15_000;
const killedMilliseconds = 5_000;
const lookMilliseconds = 25;

/** `absent`: no daemon runs. `stays`: it runs and belongs to another user. */
export type OwnerEnd = "absent" | "ended" | "stays";

/** Waits until the owner of the state has exited. `pid`: the process to wait for; a later owner has another one. */
export async function awaitOwnerEnd(lock: string, pid: number | null = null): Promise<OwnerEnd> {
  const owner = lastOwner(lock);
  if (owner === null || stateOf(owner) === "gone" || (pid !== null && owner.pid !== pid)) return "absent";
  return (await isGone(owner, orderlyMilliseconds)) ? "ended" : "stays";
}

/** Sends SIGTERM, and after a timeout SIGKILL: the state on disk is consistent at every moment. */
export async function endOwner(lock: string): Promise<OwnerEnd> {
  const owner = lastOwner(lock);
  if (owner === null || stateOf(owner) === "gone") return "absent";
  for (const [signal, milliseconds] of [
    ["SIGTERM", orderlyMilliseconds] as const,
    ["SIGKILL", killedMilliseconds] as const,
  ]) {
    // A pid is valid in its own namespace only, and is reused.
    if (stateOf(owner) === "elsewhere") return "stays";
    try {
      process.kill(owner.pid, signal);
    } catch {
      // Exited just now, or owned by another user.
    }
    if (await isGone(owner, milliseconds)) return "ended";
  }
  return "stays";
}

async function isGone(owner: ProcessIdentity, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    if (stateOf(owner) === "gone") return true;
    await new Promise((done) => setTimeout(done, lookMilliseconds));
  }
  return stateOf(owner) === "gone";
}
