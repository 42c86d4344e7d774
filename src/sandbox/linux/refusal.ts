// Nothing was run: how this room says so, always with the same code and, where there is one, a line that mends it.
import type { RunRefusal } from "../../core/ports/process.ts";

export function unavailable(message: string, fix: string | null = null): RunRefusal {
  return { code: "sandbox_unavailable", message, fix };
}

/** `ENOENT` and the like, as the system calls it. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
