// Generations: numbers that only go up. What was decided under an older one does not count any more.
import type { AgentName } from "../../core/ports/stores/link-store.ts";

/** Everything on this machine. */
export const EVERYBODY = "all";

export function agentScope({ workspace, agent }: AgentName): string {
  return `agent ${workspace ?? ""}#${agent}`;
}
