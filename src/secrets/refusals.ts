// Refusals for a missing or locked key.
import type { Refusal } from "../core/ports/daemon/exchange.ts";

export const LOCKED: Refusal = secretRefused("the store is locked", "ambit secrets unlock");

export function secretRefused(message: string, fix: string | null): Refusal {
  return { ok: false, code: "secret_refused", message, fix };
}

export function unavailable(message: string): Refusal {
  return { ok: false, code: "not_available", message, fix: null };
}

export function invalid(message: string): Refusal {
  return { ok: false, code: "invalid_input", message, fix: null };
}
