// Checks a configured second copy of the log: while it is behind, every call is denied.
import type { SinkStatus } from "../core/ports/stores/sink.ts";
import type { MachineReport } from "./backend.ts";
import { NO_AGENT, newFinding } from "./finding.ts";

export function examineSink(sink: SinkStatus | null): MachineReport {
  if (sink === null) return { findings: [], passed: [] };
  const { target, kept, problem, isDenying } = sink;
  if (problem === null)
    return { findings: [], passed: [`second copy of the log: ${target}, up to entry ${kept ?? 0}`] };
  const finding = newFinding("sink_behind", NO_AGENT, {
    severity: isDenying ? "error" : "warning",
    message: `the second copy of the log, ${target}: ${problem}`,
    ...(isDenying ? { meaning: "Every call is denied until it has caught up." } : {}),
    fix: "ambit daemon status",
  });
  return { findings: [finding], passed: [] };
}
