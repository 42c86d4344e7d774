// Denials that may stand for want of trust alone: then no grant would help, and a person's trust would.
import type { DenialCode } from "../authority/decision.ts";

/** Everything else would be denied however much of a text counts, or is not about what it says. */
export function mayWantTrust(code: DenialCode): boolean {
  return code === "capability_absent" || code === "scope_violation";
}
