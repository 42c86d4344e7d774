// The agent tools.

import { AgentDirectory } from "./agent-directory.ts";
import { discoverTool } from "./agent-discover.ts";
import type { DaemonAgentsOptions } from "./agent-options.ts";
import { updateTool } from "./agent-update.ts";
import type { OwnerTool } from "./owner-tool.ts";

export function daemonAgents(asked: DaemonAgentsOptions): readonly OwnerTool[] {
  const place = new AgentDirectory(asked);
  return [updateTool(asked, place), discoverTool(asked, place)];
}
