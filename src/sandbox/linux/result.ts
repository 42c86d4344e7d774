// The result of a command in the types of the port: how it ended, what it used, what it was denied, what was enforced.
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { CompletedRun, Ending, RunDenial, SealedDraft, Sinks, Usage } from "../../core/ports/process.ts";
import { type Confinement, enforcementOf } from "../plan/enforcement.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { Outcome } from "./running-command.ts";
import type { RunningSandbox } from "./running-sandbox.ts";

const NOTHING_USED: Usage = { wallMicroseconds: 0, userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };

/** Stopped before it was started. */
export const STOPPED_BEFORE: CompletedRun = {
  ending: { kind: "ended", because: "stopped" },
  usage: NOTHING_USED,
  denials: [],
  enforcement: [],
  outputDropped: 0,
  draft: null,
};

type FinishedOutcome = Exclude<Outcome, { readonly kind: "unavailable" }>;

export function ranOf(
  sandbox: RunningSandbox,
  outcome: FinishedOutcome,
  denials: readonly RunDenial[],
  draft: SealedDraft | null,
): CompletedRun {
  const done = outcome.kind === "done" ? outcome.done : null;
  return {
    ending: endingOf(outcome),
    usage: done?.usage ?? NOTHING_USED,
    denials,
    enforcement: sandboxEnforcement(sandbox),
    outputDropped: done?.outputDropped ?? 0,
    draft,
  };
}

/** Empty before the sandbox is ready. */
function sandboxEnforcement({ parts, ready }: RunningSandbox): readonly Enforcement[] {
  if (ready === null) return [];
  const confinement: Confinement = parts.private === null ? { kind: "sandbox", ready } : { kind: "supervised" };
  return enforcementOf(parts.plan, confinement).map(withLimits(parts.group));
}

/** Wraps the sinks to report the enforcement before any output. */
export function reportingSinks(sandbox: RunningSandbox, sinks: Sinks): Sinks {
  if (sinks.held === undefined) return sinks;
  let isReported = false;
  const tell = (): void => {
    if (isReported) return;
    isReported = true;
    sinks.held?.(sandboxEnforcement(sandbox));
  };
  return {
    output: (bytes) => {
      tell();
      return sinks.output(bytes);
    },
    errors: (bytes) => {
      tell();
      return sinks.errors(bytes);
    },
  };
}

/** When its pid 1 exits, the kernel kills everything in a sandbox with this signal. */
const killSignal = 9;

function endingOf(outcome: FinishedOutcome): Ending {
  if (outcome.kind === "done") return outcome.done.ending;
  if (outcome.because === null) return { kind: "signalled", signal: killSignal };
  return { kind: "ended", because: outcome.because };
}

/** Limits are no axis of their own; they are reported with the axis of running programs. */
function withLimits(group: ControlGroup | null): (one: Enforcement) => Enforcement {
  const limits =
    group === null
      ? "limits apply to each process only"
      : `limits of the whole process tree: ${group.holds.join(", ")}; the others apply to each process`;
  return (one) => (one.axis === "argv" ? { ...one, note: one.note === null ? limits : `${one.note}; ${limits}` } : one);
}
