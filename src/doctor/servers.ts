// MCP servers: a tool whose text speaks of another server's tools, and tools that wait for a person.
import type { ServerView } from "../core/ports/daemon/server-messages.ts";
import type { MachineReport } from "./backend.ts";
import { type Finding, NO_AGENT, newFinding } from "./finding.ts";

export type ProbeServer = Pick<ServerView, "name" | "held" | "shadowing">;

export function examineServers(servers: readonly ProbeServer[]): MachineReport {
  const findings = servers.flatMap(({ name, held, shadowing }): readonly Finding[] => [
    ...shadowing.map(({ tool, others }) =>
      newFinding("server_shadows_tool", NO_AGENT, {
        message: `the MCP server ${name} mentions other tools in the description of ${tool}: ${others.join(", ")}`,
        fix: `ambit mcp disable ${name}`,
      }),
    ),
    ...(held === 0
      ? []
      : [
          newFinding("server_held", NO_AGENT, {
            message: `the MCP server ${name} has ${held === 1 ? "a tool that is" : `${held} tools that are`} new or changed since it was pinned`,
            fix: `ambit mcp pin ${name}`,
          }),
        ]),
  ]);
  const passed =
    servers.length === 0 || findings.length > 0
      ? []
      : [`MCP servers: ${servers.length}, unchanged since they were pinned`];
  return { findings, passed };
}
