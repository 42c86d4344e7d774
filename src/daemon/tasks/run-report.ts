// How a run of a task ended, from the answer about its program.
import type { DenialView, ProgramCompletion, ProgramRefusal } from "../../core/ports/daemon/daemon-calls.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { ChangesReport } from "../../core/ports/drafts.ts";
import type { Ending } from "../../core/ports/process.ts";
import type { RunReport } from "../../org/task-life.ts";

export type RunAnswer = Answer<ProgramCompletion | ProgramRefusal | DenialView>;

export const STOPPED = "its runner was stopped";

/** Nothing was decided about the run: a full disk or a busy machine passes. */
const PASSING: ReadonlySet<string> = new Set([
  "not_available",
  "audit_unavailable",
  "sandbox_unavailable",
  "approval_unavailable",
]);

export function reportOf(answer: RunAnswer | null, capabilities: readonly string[], isStopped: boolean): RunReport {
  if (answer === null) return { kind: "ended", status: null, reason: "it failed inside the daemon" };
  if (!answer.ok) return refusalReport(answer.code, answer.message, isStopped);
  const { value } = answer;
  switch (value.outcome) {
    case "ran": {
      const { ending, changes } = value;
      if (ending.kind === "exited" && ending.status === 0) return landingReport(changes);
      if (ending.kind === "exited") return { kind: "ended", status: ending.status, reason: `status ${ending.status}` };
      if (isStopped) return { kind: "released", reason: STOPPED, isFrozen: false };
      return { kind: "ended", status: null, reason: endingText(ending) };
    }
    case "refused":
      return refusalReport(value.code, value.message, isStopped);
    case "denied": {
      const { approval, code, hint, reason } = value;
      if (code === "approval_required" && approval !== null) return { kind: "asked", approval, capabilities };
      if (code === "approval_refused" && capabilities.length > 0)
        return { kind: "refused", capabilities, reason: reason ?? "" };
      return refusalReport(code, reason === null ? hint : `${hint} Reason: ${reason}`, isStopped);
    }
    default:
      return value satisfies never;
  }
}

/** Whether the run changed files of the project. */
export function hasLanded(answer: RunAnswer | null): boolean {
  return answer?.ok === true && answer.value.outcome === "ran" && (answer.value.changes?.landed ?? 0) > 0;
}

/** A run whose changes conflict with newer ones is run again, on what is there now. */
function landingReport(changes: ChangesReport | null): RunReport {
  if (changes === null || changes.draft === null || changes.kept.length === 0)
    return { kind: "ended", status: 0, reason: "" };
  const count = changes.kept.length + changes.keptMore;
  const isConflict = changes.kept.some(({ code }) => code === "draft_conflict");
  const why = isConflict ? "conflict with newer ones" : "did not land";
  const reason = `${count === 1 ? "one of its changes" : `${count} of its changes`} ${why}: ambit changes show ${changes.draft}`;
  return { kind: "ended", status: isConflict ? null : 0, reason };
}

function refusalReport(code: string, message: string, isStopped: boolean): RunReport {
  if (isStopped || code === "frozen")
    return { kind: "released", reason: isStopped ? STOPPED : message, isFrozen: code === "frozen" };
  const reason = `${code}: ${message}`;
  return PASSING.has(code) ? { kind: "ended", status: null, reason } : { kind: "denied", reason };
}

function endingText(ending: Exclude<Ending, { kind: "exited" }>): string {
  switch (ending.kind) {
    case "signalled":
      return `killed by signal ${ending.signal}`;
    case "unstarted":
      return ending.reason;
    case "ended":
      return "reason" in ending ? ending.reason : ENDED[ending.because];
    default:
      return ending satisfies never;
  }
}

const ENDED = {
  time: "it exceeded its timeout",
  output: "it exceeded the output limit",
  stopped: "it was ended",
} as const;
