// One thing worth saying: what it is called, how bad it is, where it stands, what it means, what to do.
import type { Grant, Span } from "../core/authority/grant.ts";
import type { Diagnostic, DiagnosticCode, Severity } from "../core/notation/diagnostic.ts";

/** What doctor itself finds; what the readers find keeps the code of its diagnostic. */
export const FINDING_CODES = [
  "records_writable",
  "unscoped_exec",
  "exec_everywhere",
  "grants_widely",
  "files_everywhere",
  "every_secret",
  "inert_grants",
  "lethal_combination",
  "dead_rule",
  "expired_grant",
  "interpreter_pattern",
  "unasked_script",
  "unheld_read",
  "older_preset",
  "protected_opened",
  "unknown_argument",
  "tool_exceeds_agents",
  "unreachable_loopback",
  "deny_overruled",
  "unknown_agent",
  "missing_workspace",
  "users_in_project",
  "bad_acceptance",
  "not_checked",
  "unreadable_file",
  "untrusted_project",
  "sandbox_missing",
  "sandbox_blocked",
  "sandbox_weaker",
  "landlock_missing",
  "program_missing",
  "kernel_too_old",
  "drafts_unavailable",
  "network_narrower",
  "limits_weaker",
  "home_ignored",
  "state_missing",
  "sink_behind",
  "secrets_locked",
  "server_shadows_tool",
  "server_held",
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

/** How findings are counted: those of a text, those of a machine, and the two kinds the seed counts. */
export type FindingKind = "diagnostic" | "escalation" | "inert" | "policy" | "machine";

export interface Finding {
  readonly code: FindingCode | DiagnosticCode;
  readonly severity: Severity;
  /** Null for what is about the project or the machine. */
  readonly agent: string | null;
  readonly file: string | null;
  readonly span: Span | null;
  readonly message: string;
  /** What it means here; null where the page of the code says it all. */
  readonly meaning: string | null;
  /** The nearest name that exists, for a name that does not. */
  readonly suggestion: string | null;
  readonly fix: string | null;
  /** The grants it is about. */
  readonly grants: readonly Grant[];
}

export function kindOf(code: Finding["code"]): FindingKind {
  switch (code) {
    case "records_writable":
    case "unscoped_exec":
    case "exec_everywhere":
    case "grants_widely":
    case "files_everywhere":
    case "every_secret":
      return "escalation";
    case "inert_grants":
      return "inert";
    case "sandbox_missing":
    case "sandbox_blocked":
    case "sandbox_weaker":
    case "landlock_missing":
    case "program_missing":
    case "kernel_too_old":
    case "drafts_unavailable":
    case "network_narrower":
    case "limits_weaker":
    case "home_ignored":
    case "state_missing":
    case "sink_behind":
    case "secrets_locked":
    case "server_shadows_tool":
    case "server_held":
      return "machine";
    default:
      return (FINDING_CODES as readonly string[]).includes(code) ? "policy" : "diagnostic";
  }
}

/** The agent or file a finding is about. */
export interface FindingSubject {
  readonly agent: string | null;
  readonly file: string | null;
}

export const NO_AGENT: FindingSubject = { agent: null, file: null };

interface FindingText {
  readonly message: string;
  readonly meaning?: string;
  readonly fix?: string;
  readonly span?: Span | null;
  readonly grants?: readonly Grant[];
  readonly severity?: Severity;
}

export function newFinding(code: FindingCode, { agent, file }: FindingSubject, said: FindingText): Finding {
  return {
    code,
    severity: said.severity ?? "warning",
    agent,
    file,
    span: said.span ?? said.grants?.[0]?.span ?? null,
    message: said.message,
    meaning: said.meaning ?? null,
    suggestion: null,
    fix: said.fix ?? null,
    grants: said.grants ?? [],
  };
}

export function fromDiagnostic(
  { code, severity, message, span, suggestion, fix }: Diagnostic,
  { agent, file }: FindingSubject,
): Finding {
  return { code, severity, agent, file, span, message, meaning: null, suggestion, fix, grants: [] };
}
