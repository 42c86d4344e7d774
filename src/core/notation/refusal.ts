// A refused entry in a notation where such an entry is allowed and matches nothing: said as a warning, not an error.
import type { Span } from "../authority/grant.ts";
import type { Refusal } from "../base/result.ts";
import type { Diagnostics } from "./diagnostic.ts";

export function warnRefused(refusal: Refusal, span: Span, diagnostics: Diagnostics): void {
  const code = refusal.code === "too_long" ? "too_large" : refusal.code;
  diagnostics.warning(code, span, `${refusal.message}; this entry grants nothing`, { fix: refusal.fix ?? null });
}
