// Generations: counters that only increase. A decision made under an older generation is invalid.
import type { AgentName } from "../../core/ports/stores/link-store.ts";

/** The generation of the whole machine. */
export const MACHINE_SCOPE = "all";

/** A user's name holds no space. */
export function agentScope({ workspace, agent, user }: AgentName): string {
  return `agent ${workspace ?? ""}#${agent}${user === undefined ? "" : ` ${user}`}`;
}
