// Our MCP server in the settings of each client, in the client's own format: one entry called `ambit`.
//
// How to write it: `serverFile(client, scope, words)` says which file changes and how; `ClientSettings` previews, writes and
// restores that change like the one of a hook, byte for byte. `words` start the server: `ClientSettings.server` has those of
// `ambit mcp serve`; another server of ours passes its own, as long as `mcp` follows the path of our program.
import { isJsonList, isJsonObject, type Json, member } from "../../core/base/json.ts";
import type { ConnectScope, SettingsFile } from "./connections.ts";

export const SERVER_NAME = "ambit";

/**
 * Null where the client has no such file, or one that would shut out its other servers. `isAlone`: the client's other servers
 * leave the file.
 */
export function serverFile(
  client: string,
  scope: ConnectScope,
  words: readonly string[],
  isAlone = false,
): SettingsFile | null {
  const place = PLACES.get(client);
  const path = place?.paths[scope];
  if (place === undefined || path === undefined) return null;
  if (path.endsWith(".toml")) return { path, change: { kind: "lines", lines: tomlLines(words) } };
  const at = [place.list, SERVER_NAME];
  if (isAlone) {
    const value = { [SERVER_NAME]: place.entry(words) };
    return { path, change: { kind: "json", elements: [], members: [{ at: [place.list], value, isOurs: isOurList }] } };
  }
  return {
    path,
    change: { kind: "json", elements: [], members: [{ at, value: place.entry(words), isOurs: isOurServer }] },
  };
}

/** Whether an entry was written here: its words have the path of our program, which a person's own seldom have. */
export function isOurServer(entry: Json): boolean {
  if (!isJsonObject(entry)) return false;
  const [command, args] = [member(entry, "command"), member(entry, "args")];
  const words = [...(isJsonList(command) ? command : [command]), ...(isJsonList(args) ? args : [])];
  return words.some((word, at) => typeof word === "string" && word.endsWith(PROGRAM) && words[at + 1] === "mcp");
}

function isOurList(list: Json): boolean {
  return isJsonObject(list) && isOurServer(member(list, SERVER_NAME) ?? null);
}

const PROGRAM = "/bin/ambit";

interface ServerSettings {
  readonly paths: Partial<Readonly<Record<ConnectScope, string>>>;
  /** The member of a JSON file that has the servers by their names. */
  readonly list: string;
  entry(words: readonly string[]): Json;
}

const plain = ([command = "", ...args]: readonly string[]): { command: string; args: Json } => ({ command, args });
const stdio = (words: readonly string[]): Json => ({ type: "stdio", ...plain(words) });

const SERVERS = "mcpServers";
const [CODEX, GEMINI, CURSOR] = [".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json"];

const PLACES: ReadonlyMap<string, ServerSettings> = new Map<string, ServerSettings>([
  // A managed file of servers makes Claude Code ignore all others.
  ["claude", { paths: { project: ".mcp.json", user: ".claude.json" }, list: SERVERS, entry: stdio }],
  ["codex", { paths: { project: CODEX, user: CODEX, managed: "/etc/codex/config.toml" }, list: "", entry: plain }],
  [
    "opencode",
    {
      paths: { project: "opencode.json", user: ".config/opencode/opencode.json" },
      list: "mcp",
      entry: (words) => ({ type: "local", command: words, enabled: true }),
    },
  ],
  [
    "gemini",
    { paths: { project: GEMINI, user: GEMINI, managed: "/etc/gemini-cli/settings.json" }, list: SERVERS, entry: plain },
  ],
  ["cursor", { paths: { project: CURSOR, user: CURSOR }, list: SERVERS, entry: plain }],
  [
    "copilot",
    {
      paths: { project: ".github/mcp.json", user: ".copilot/mcp-config.json" },
      list: SERVERS,
      entry: (words) => ({ type: "local", ...plain(words), tools: ["*"] }),
    },
  ],
  ["vscode", { paths: { project: ".vscode/mcp.json" }, list: "servers", entry: stdio }],
]);

function tomlLines([command = "", ...args]: readonly string[]): readonly string[] {
  return [
    `[mcp_servers.${SERVER_NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((one) => JSON.stringify(one)).join(", ")}]`,
  ];
}
