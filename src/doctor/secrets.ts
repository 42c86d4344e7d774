// Whether the secrets that are kept can be opened: where they cannot, none is used and none is redacted.
import type { KeyStatus } from "../core/ports/secret-key.ts";
import type { MachineReport } from "./backend.ts";
import { NO_AGENT, newFinding } from "./finding.ts";

export function examineSecrets(key: KeyStatus | null): MachineReport {
  if (key === null) return { findings: [], passed: [] };
  const { source, problem, fix } = key;
  if (problem === null) return { findings: [], passed: [`key of the secrets: ${source}`] };
  const finding = newFinding("secrets_locked", NO_AGENT, {
    message: `secrets cannot be used or redacted: ${problem}`,
    fix: fix ?? "ambit secrets key",
  });
  return { findings: [finding], passed: [] };
}
