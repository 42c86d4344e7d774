// What a sandbox could leave behind on the host: processes that see a folder, and mounts.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Every process whose arguments or mounts name the folder, ourselves not counted. */
export function processesNaming(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && Number(name) !== process.ppid)
    .filter((pid) => ["cmdline", "mountinfo"].some((file) => readText(`/proc/${pid}/${file}`).includes(folder)))
    .map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 80)}`);
}

/** The same once what is on its way out has had time to go. */
export async function processesLeft(folder: string): Promise<readonly string[]> {
  const left = (): readonly string[] => processesNaming(folder).filter((line) => !isUnborn(line.split(" ")[0] ?? ""));
  for (let tries = 0; tries < 300 && left().length > 0; tries++) await pause(100);
  return left();
}

/**
 * Bubblewrap's own second process, whose first was killed before it gave the word to begin: it waits for that word and has
 * run nothing of anybody's. docs/limits.md says so.
 */
function isUnborn(pid: string): boolean {
  const [program = ""] = readText(`/proc/${pid}/cmdline`).split("\0");
  if (!program.endsWith("/bwrap") || readText(`/proc/${pid}/task/${pid}/children`).trim() !== "") return false;
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).includes("[eventfd]"));
  } catch {
    return false;
  }
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
