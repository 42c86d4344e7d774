// Whether the second copy of the log is one, where somebody wants it: without it nothing is allowed.
import type { SinkStatus } from "../core/ports/stores/sink.ts";
import type { MachineReport } from "./backend.ts";
import { found, NOBODY } from "./finding.ts";

export function examineSink(sink: SinkStatus | null): MachineReport {
  if (sink === null) return { findings: [], passed: [] };
  const { target, kept, problem, isDenying } = sink;
  if (problem === null)
    return { findings: [], passed: [`second copy of the log: ${target}, up to entry ${kept ?? 0}`] };
  const finding = found("sink_behind", NOBODY, {
    severity: isDenying ? "error" : "warning",
    message: `the second copy of the log, ${target}: ${problem}`,
    ...(isDenying ? { meaning: "Every call is denied until it has caught up." } : {}),
    fix: "ambit daemon status",
  });
  return { findings: [finding], passed: [] };
}
