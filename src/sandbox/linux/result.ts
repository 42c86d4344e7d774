// What became of a command, in the words of the port: how it ended, what it used, what was refused to it, what held it.
import type { Enforcement } from "../../core/ports/enforcement.ts";
import type { CompletedRun, Ending, RunDenial, SealedDraft, Sinks, Usage } from "../../core/ports/process.ts";
import { enforcementOf } from "../plan/enforcement.ts";
import type { ControlGroup } from "./control-groups.ts";
import type { LiveSandbox } from "./live-sandbox.ts";
import type { Outcome } from "./running.ts";

const NOTHING_USED: Usage = { wallMicroseconds: 0, userMicroseconds: 0, systemMicroseconds: 0, memoryKibibytes: 0 };

/** Somebody said stop before there was anything to stop. */
export const STOPPED_BEFORE: CompletedRun = {
  ending: { kind: "ended", because: "stopped" },
  usage: NOTHING_USED,
  denials: [],
  enforcement: [],
  outputDropped: 0,
  draft: null,
};

type Over = Exclude<Outcome, { readonly kind: "unavailable" }>;

export function ranOf(
  sandbox: LiveSandbox,
  outcome: Over,
  denials: readonly RunDenial[],
  draft: SealedDraft | null,
): CompletedRun {
  const done = outcome.kind === "done" ? outcome.done : null;
  return {
    ending: endingOf(outcome),
    usage: done?.usage ?? NOTHING_USED,
    denials,
    enforcement: heldBy(sandbox),
    outputDropped: done?.outputDropped ?? 0,
    draft,
  };
}

/** Nothing before it is ready. */
function heldBy({ parts, ready }: LiveSandbox): readonly Enforcement[] {
  return ready === null ? [] : enforcementOf(parts.plan, { kind: "sandbox", ready }).map(withLimits(parts.group));
}

/** Its sinks, which are told what holds it before they are given anything. */
export function toldSinks(sandbox: LiveSandbox, sinks: Sinks): Sinks {
  if (sinks.held === undefined) return sinks;
  let isTold = false;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    sinks.held?.(heldBy(sandbox));
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

/** With its first process the kernel kills everything in a sandbox, and that is the signal it uses. */
const killSignal = 9;

function endingOf(outcome: Over): Ending {
  if (outcome.kind === "done") return outcome.done.ending;
  if (outcome.because === null) return { kind: "signalled", signal: killSignal };
  return { kind: "ended", because: outcome.because };
}

/** Limits are no axis of their own; they are told where running programs is. */
function withLimits(group: ControlGroup | null): (one: Enforcement) => Enforcement {
  const limits =
    group === null
      ? "limits are those of each process alone"
      : `limits of the whole tree: ${group.holds.join(", ")}; the others of each process`;
  return (one) => (one.axis === "argv" ? { ...one, note: one.note === null ? limits : `${one.note}; ${limits}` } : one);
}
