// `ambit connect --gateway`: our MCP server is the only one in a file of the client. Its other servers leave the file once they are
// behind ambit; those in other files are named.
import type { ConnectScope } from "../../clients/connect/connections.ts";
import { serverFile } from "../../clients/connect/server-entry.ts";
import type { ClientServer } from "../../clients/servers/client-servers.ts";
import { isOurs, ownName } from "../../clients/servers/import-server.ts";
import { serversOf } from "../mcp/import.ts";
import type { ConnectPorts } from "./connect.ts";

export type GatewayPlan =
  /** `direct`: servers of other files, which the client still starts by itself. */
  | { readonly ok: true; readonly direct: readonly ClientServer[] }
  | { readonly ok: false; readonly message: string; readonly fix: string };

/** Nothing is taken from a client that ambit does not offer. */
export function gatewayPlan(ports: ConnectPorts, client: string, scope: ConnectScope): GatewayPlan {
  const found = serversOf(ports, client);
  if ("message" in found)
    return { ok: false, message: found.message, fix: `ambit connect ${client} --agent AGENT --mcp` };
  const path = serverFile(client, scope, [])?.path ?? "";
  const file = scope === "user" ? `~/${path}` : path;
  const others = found.servers.filter((one) => one.isEnabled && !isOurs(one));
  const replaced = others.filter((one) => one.file === file);
  const offered = ports.servers.load().servers.filter(({ server, waits }) => waits === null && server.isEnabled);
  const behind = new Set(offered.map(({ server }) => server.name));
  const missing = replaced.filter(({ name }) => !behind.has(ownName(name) ?? ""));
  if (missing.length > 0)
    return {
      ok: false,
      message: `these servers are not behind ambit yet: ${missing.map(({ name }) => name).join(", ")}`,
      fix: `ambit mcp import ${client}${scope === "project" ? " --project" : ""}`,
    };
  if (replaced.length > 0 && path.endsWith(".toml"))
    return {
      ok: false,
      message: `${file} is not rewritten: remove the tables of ${replaced.map(({ name }) => name).join(", ")} below \`mcp_servers\``,
      fix: `ambit connect ${client} --agent AGENT --gateway`,
    };
  return { ok: true, direct: others.filter((one) => one.file !== file) };
}
