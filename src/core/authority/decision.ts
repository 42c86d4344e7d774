// What a decision is: allow, ask, or deny with a stable code. The same at every face.
import type { AxisName } from "./catalog.ts";
import type { Level } from "./grant.ts";

export const DENIAL_CODES = [
  "invalid_input",
  "unknown_tool",
  "capability_absent",
  "scope_violation",
  "self_modification",
  "exceeds_grantor_authority",
  "expired",
  "revoked",
  "generation_stale",
  "approval_required",
  "approval_refused",
  "budget_exhausted",
  "address_refused",
  "secret_refused",
  "sandbox_unavailable",
  "not_available",
  "audit_unavailable",
  "pin_changed",
  "unsupported_command",
  "untrusted_policy",
  "draft_conflict",
  "not_landed",
  "untrusted_content",
  "unknown_user",
  "approval_unavailable",
  "frozen",
  "not_found",
] as const;

export type DenialCode = (typeof DENIAL_CODES)[number];

/** Which grant of each link of the deciding chain covered. */
export interface Basis {
  readonly chain: number;
  /** Place of the deciding grant in each link. */
  readonly grants: readonly number[];
}

/** Where it failed: the chain that came closest, the first link that does not cover, and the axis it failed on. */
export interface Shortfall {
  readonly chain: number;
  readonly link: number;
  readonly axis: AxisName | "clean" | "pass" | "users" | null;
}

export type Decision =
  | { readonly outcome: "allow"; readonly by: Basis }
  | { readonly outcome: "ask"; readonly level: Exclude<Level, 0>; readonly by: Basis }
  | { readonly outcome: "deny"; readonly code: DenialCode; readonly at: Shortfall | null };
