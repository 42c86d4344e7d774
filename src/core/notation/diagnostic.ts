// What was not understood, where, and what to write instead. Whatever a diagnostic of severity `error` stands on
// grants nothing.
import type { Span } from "../authority/grant.ts";

export type Severity = "error" | "warning" | "info";

export type DiagnosticCode =
  /** The text is not YAML, JSON or TOML, or uses a part of it we refuse (anchors, tags, duplicate keys). */
  | "syntax"
  | "too_large"
  | "unknown_verb"
  | "unknown_key"
  /** A key that means something, at a level where it does not. */
  | "bad_indentation"
  | "wrong_type"
  | "bad_pattern"
  | "bad_value"
  | "escapes_root"
  | "not_absolute"
  /** The grant covers nothing: no root, no hosts, no ports. */
  | "inert"
  | "clamped"
  /** As wide as it can be; it counts, but it is seldom meant. */
  | "wide"
  /** A bare token, which in its notation means everything. */
  | "bare_token"
  | "narrowed"
  | "deprecated"
  | "unknown_preset"
  | "failed_test"
  | "missing_field"
  | "not_understood";

export interface Diagnostic {
  readonly severity: Severity;
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly span: Span;
  /** The nearest name that exists, for a name that does not. */
  readonly suggestion: string | null;
  /** What to write instead. */
  readonly fix: string | null;
}

/** Collects diagnostics while a text is read. */
export class Diagnostics {
  readonly list: Diagnostic[] = [];

  error(
    code: DiagnosticCode,
    span: Span,
    message: string,
    more: { suggestion?: string | null; fix?: string | null } = {},
  ): void {
    this.#add("error", code, span, message, more);
  }

  warning(
    code: DiagnosticCode,
    span: Span,
    message: string,
    more: { suggestion?: string | null; fix?: string | null } = {},
  ): void {
    this.#add("warning", code, span, message, more);
  }

  info(
    code: DiagnosticCode,
    span: Span,
    message: string,
    more: { suggestion?: string | null; fix?: string | null } = {},
  ): void {
    this.#add("info", code, span, message, more);
  }

  #add(
    severity: Severity,
    code: DiagnosticCode,
    span: Span,
    message: string,
    more: { suggestion?: string | null; fix?: string | null },
  ): void {
    this.list.push({ severity, code, span, message, suggestion: more.suggestion ?? null, fix: more.fix ?? null });
  }
}
