// Denials that stand for want of trust, or because of a revocation: then no grant would help.
import type { Authority } from "../authority/chain.ts";
import type { DenialCode } from "../authority/decision.ts";
import type { Caller } from "./decide.ts";

/** Everything else would be denied however much of a text counts, or is not about what it says. */
export function mayWantTrust(code: DenialCode): boolean {
  return code === "capability_absent" || code === "scope_violation";
}

/**
 * What stands behind a denial: a text that is not trusted, or a delegation that was revoked. Null where neither would have
 * allowed it. INVARIANT: this changes the code of a denial, and never makes it anything else.
 */
export function behindDenial(
  caller: Caller,
  code: DenialCode,
  isAllowedBy: (authority: Authority) => boolean,
): { readonly code: "untrusted_policy" | "revoked"; readonly reason: string | null } | null {
  if (!mayWantTrust(code)) return null;
  const written = unlessBroken(caller.written);
  if (written !== null && isAllowedBy(written)) return { code: "untrusted_policy", reason: null };
  for (const { authority, what } of unlessBroken(caller.revoked) ?? [])
    if (isAllowedBy([...caller.authority, ...authority])) return { code: "revoked", reason: what };
  return null;
}

/** Texts that cannot be read say nothing. */
function unlessBroken<T>(read: (() => T) | null | undefined): T | null {
  try {
    return read?.() ?? null;
  } catch {
    return null;
  }
}
