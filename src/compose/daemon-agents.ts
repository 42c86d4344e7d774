// The tools over agents, joined.
import type { OwnerTool } from "../daemon/owner-tool.ts";
import type { DaemonAgentsAsked } from "./daemon-agents-asked.ts";
import { discoverTool } from "./daemon-agents-discover.ts";
import { AgentsPlace } from "./daemon-agents-place.ts";
import { updateTool } from "./daemon-agents-update.ts";

export function daemonAgents(asked: DaemonAgentsAsked): readonly OwnerTool[] {
  const place = new AgentsPlace(asked);
  return [updateTool(asked, place), discoverTool(asked, place)];
}
