// Ending the daemon from outside: for one that does not answer, or answers in another protocol.
import { lastOwner } from "./owner-lock.ts";
import { type ProcessIdentity, stateOf } from "./process-identity.ts";

const orderlyMilliseconds = 15_000;
const killedMilliseconds = 5_000;
const lookMilliseconds = 25;

/** `nobody`: there was none. `stays`: it is there, and not ours to end. */
export type OwnerEnd = "nobody" | "ended" | "stays";

/** Waits until the owner of the state is gone, whoever told it to go. `pid`: which one; another has come after it then. */
export async function awaitOwnerEnd(lock: string, pid: number | null = null): Promise<OwnerEnd> {
  const owner = lastOwner(lock);
  if (owner === null || stateOf(owner) === "gone" || (pid !== null && owner.pid !== pid)) return "nobody";
  return (await isGone(owner, orderlyMilliseconds)) ? "ended" : "stays";
}

/** Asks it to end, and after a while does not ask any more: what it keeps is whole at every moment. */
export async function endOwner(lock: string): Promise<OwnerEnd> {
  const owner = lastOwner(lock);
  if (owner === null || stateOf(owner) === "gone") return "nobody";
  for (const [signal, milliseconds] of [
    ["SIGTERM", orderlyMilliseconds] as const,
    ["SIGKILL", killedMilliseconds] as const,
  ]) {
    // A number counts in its own namespace, and is given out again.
    if (stateOf(owner) === "elsewhere") return "stays";
    try {
      process.kill(owner.pid, signal);
    } catch {
      // Gone in this very moment, or another user's.
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
