// The tools over agents, joined.
import type { OwnerTool } from "./owner-tool.ts";
import type { DaemonAgentsAsked } from "./agent-options.ts";
import { discoverTool } from "./agent-discover.ts";
import { AgentsPlace } from "./agent-directory.ts";
import { updateTool } from "./agent-update.ts";

export function daemonAgents(asked: DaemonAgentsAsked): readonly OwnerTool[] {
  const place = new AgentsPlace(asked);
  return [updateTool(asked, place), discoverTool(asked, place)];
}
