// Processes of the machine that belong to a scene: those with its folder in their arguments or as their working directory.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { holdsWithin } from "../house/until.ts";

const OWNERS: readonly string[] = ["ambit-native", "bwrap", "ambit-daemon", "daemon.cjs", "broker.cjs"];
const waitMillisecondsMax = 60_000;

export function processesOf(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isOf(pid, folder));
}

/** Those still running after a while; killed ones take a moment to exit. */
export async function survivorsOf(folder: string, known: readonly number[]): Promise<readonly number[]> {
  const others = (): readonly number[] => processesOf(folder).filter((pid) => !known.includes(pid));
  await holdsWithin(waitMillisecondsMax, () => others().length === 0);
  return others();
}

function isOf(pid: number, folder: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "latin1");
    // The daemon keeps running, with its broker and its warm sandboxes; their commands do not.
    if (OWNERS.some((owner) => words.includes(owner))) return false;
    return words.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
  } catch {
    return false;
  }
}
