// Who a process is, so that a later one can tell whether it still runs: a number alone is given out again.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the kernel's own count; null where the machine does not say. */
  readonly start: string | null;
  /** The machine and, on Linux, the namespace the number counts in. */
  readonly where: string;
}

export function ownIdentity(): ProcessIdentity {
  return processIdentity(process.pid);
}

export function processIdentity(pid: number): ProcessIdentity {
  return { pid, start: startOf(pid), where: whereabouts() };
}

/** `elsewhere`: its number means nothing here, so nothing can be said. */
export function stateOf(identity: ProcessIdentity): "running" | "gone" | "elsewhere" {
  if (identity.where !== whereabouts()) return "elsewhere";
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // Somebody else's process is running, too.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return "gone";
  }
  return identity.start === null || identity.start === startOf(identity.pid) ? "running" : "gone";
}

export function identityText(identity: ProcessIdentity): string {
  return JSON.stringify(identity);
}

/** Null for what is no identity. */
export function readIdentity(text: string): ProcessIdentity | null {
  try {
    const { pid, start, where } = JSON.parse(text) as Partial<ProcessIdentity>;
    const isKnown = typeof where === "string" && (start === null || typeof start === "string");
    return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 && isKnown ? { pid, start, where } : null;
  } catch {
    return null;
  }
}

/** A process that has ended but was not yet asked for its status does nothing any more. */
function startOf(pid: number): string | null {
  try {
    // The name, in parentheses, may hold anything; what follows the last one is numbers.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[0] === "Z" ? "ended" : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function whereabouts(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}
