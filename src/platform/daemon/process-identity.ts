// The identity of a process, so that a later process can tell whether it still runs: pids alone are reused.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the kernel's clock ticks; null where the system does not report it. */
  readonly start: string | null;
  /** The machine and, on Linux, the pid namespace. */
  readonly where: string;
}

export function ownIdentity(): ProcessIdentity {
  return processIdentity(process.pid);
}

export function processIdentity(pid: number): ProcessIdentity {
  return { pid, start: startOf(pid), where: namespaceText() };
}

/** `elsewhere`: the pid belongs to another machine or namespace, so nothing is known. */
export function stateOf(identity: ProcessIdentity): "running" | "gone" | "elsewhere" {
  if (identity.where !== namespaceText()) return "elsewhere";
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // A process of another user is running, too.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return "gone";
  }
  return identity.start === null || identity.start === startOf(identity.pid) ? "running" : "gone";
}

export function identityText(identity: ProcessIdentity): string {
  return JSON.stringify(identity);
}

/** Null where the text is not an identity. */
export function readIdentity(text: string): ProcessIdentity | null {
  try {
    const { pid, start, where } = JSON.parse(text) as Partial<ProcessIdentity>;
    const isKnown = typeof where === "string" && (start === null || typeof start === "string");
    return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 && isKnown ? { pid, start, where } : null;
  } catch {
    return null;
  }
}

/** A zombie counts as ended. */
function startOf(pid: number): string | null {
  try {
    // The name is in parentheses and may contain anything; numbers follow the last parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[0] === "Z" ? "ended" : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function namespaceText(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}
