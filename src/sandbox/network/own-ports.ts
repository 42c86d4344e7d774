// Ports of the host that ambit's own processes listen on, as the kernel lists them now. A program in a sandbox must not reach
// them: what listens there decides about programs in sandboxes.
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";

const LISTENING = "0A";
const processesMax = 65_536;

/** True also where that cannot be told. */
export async function isOwnPort(port: number): Promise<boolean> {
  try {
    const inodes = (await Promise.all(["tcp", "tcp6"].map((table) => listeners(table, port)))).flat();
    if (inodes.length === 0) return false;
    const sockets = new Set(inodes.map((inode) => `socket:[${inode}]`));
    const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).slice(0, processesMax);
    for (const pid of processes) if ((await isOurs(pid)) && (await holdsOne(pid, sockets))) return true;
    return false;
  } catch {
    return true;
  }
}

/** Inodes of the sockets that listen on this port, of any local address. */
async function listeners(table: string, port: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/net/${table}`, "utf8").catch((error: NodeJS.ErrnoException) => {
    // A kernel without the newer protocol has no such table.
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = "", , state]) => state === LISTENING && local.endsWith(`:${wanted}`))
    .flatMap(({ 9: inode }) => (inode === undefined ? [] : [inode]));
}

/** By the title our processes take, or by the program they were started with. */
async function isOurs(pid: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const [first = "", ...words] = line.split("\0");
  return /^ambit\b/.test(basename(first)) || words.slice(0, 4).some((word) => /^ambit(\.c?js)?$/.test(basename(word)));
}

/** A process that ended meanwhile, or another user's, holds nothing that we can see. */
async function holdsOne(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(handles.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
  return targets.some((target) => sockets.has(target));
}
