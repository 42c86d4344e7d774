// Sandboxes without namespaces, whatever this machine offers: the backend is chosen here, not detected.
import type { LinuxSandboxes, LinuxSandboxesParts } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { planFor, sandboxEnvironment, sandboxesIn, segments } from "../sandbox/fixture.ts";

export function supervisedIn(folder: string, parts: Partial<LinuxSandboxesParts> = {}): LinuxSandboxes {
  const environment = {
    ...sandboxEnvironment(),
    backend: { kind: "supervised", because: "chosen by a test" } as const,
  };
  return sandboxesIn(folder, { environment, ...parts });
}

/** The real folder, written directly: where a copy is written, it is a folder like this one. */
export function directPlan(folder: string, changes: Partial<Plan> = {}): Plan {
  return planFor(folder, { root: { path: segments(folder), mode: "direct" }, ...changes });
}
