// A refusal as in every daemon response.
import type { Refusal } from "../core/ports/daemon/exchange.ts";

export function refusal(code: string, message: string, fix: string | null = null): Refusal {
  return { ok: false, code, message, fix };
}

export const NO_SESSION: Refusal = refusal(
  "unknown_session",
  "no such session on this connection",
  "open a session first",
);
