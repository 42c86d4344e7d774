// What a sandbox could leave behind on the host: processes that see a folder, and mounts.
import { readdirSync, readFileSync } from "node:fs";
import { holdsWithin } from "../house/until.ts";

/** Every process whose arguments or mounts name the folder, except this one. */
export function processesNaming(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && Number(name) !== process.ppid)
    .filter((pid) => ["cmdline", "mountinfo"].some((file) => readText(`/proc/${pid}/${file}`).includes(folder)))
    .map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 80)}`);
}

/** The same after exiting processes have had time to end. */
export async function processesLeft(folder: string): Promise<readonly string[]> {
  await holdsWithin(30_000, () => processesNaming(folder).length === 0);
  return processesNaming(folder);
}

export function mountsNaming(folder: string): readonly string[] {
  return readText("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line.includes(folder));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
