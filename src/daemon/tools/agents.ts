// The agent tools.

import { AgentsPlace } from "./agent-directory.ts";
import { discoverTool } from "./agent-discover.ts";
import type { DaemonAgentsAsked } from "./agent-options.ts";
import { updateTool } from "./agent-update.ts";
import type { OwnerTool } from "./owner-tool.ts";

export function daemonAgents(asked: DaemonAgentsAsked): readonly OwnerTool[] {
  const place = new AgentsPlace(asked);
  return [updateTool(asked, place), discoverTool(asked, place)];
}
