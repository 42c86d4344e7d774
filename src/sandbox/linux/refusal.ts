// Builds a refusal for a run that did not start: always the same code and, where there is one, a fix.
import type { RunRefusal } from "../../core/ports/process.ts";

export function unavailable(message: string, fix: string | null = null): RunRefusal {
  return { code: "sandbox_unavailable", message, fix };
}
