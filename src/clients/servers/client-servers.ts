// The MCP servers in the settings of each client, read from the client's own format. Whatever a file says is data.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";

/** A server as a client starts or calls it; values are as written. */
export interface ClientServer {
  readonly name: string;
  /** As shown to a person. */
  readonly file: string;
  readonly isEnabled: boolean;
  readonly endpoint:
    | {
        readonly kind: "program";
        readonly command: readonly string[];
        readonly environment: readonly (readonly [string, string])[];
        /** Variables of the user that the client passes on. */
        readonly passed: readonly string[];
      }
    | {
        readonly kind: "http";
        readonly url: string;
        readonly headers: readonly (readonly [string, string])[];
      }
    /** Not understood. */
    | { readonly kind: "other"; readonly why: string };
}

export interface ServerSettings {
  readonly scope: "project" | "user";
  readonly path: string;
  /** The servers of a file by their names; `workspace`: of the project. */
  lists(value: JsonObject, workspace: string | null): readonly (Json | undefined)[];
}

const under =
  (key: string): ServerSettings["lists"] =>
  (value) => [member(value, key)];

/** Claude Code has servers for every project, and some for single ones. */
const ofClaude: ServerSettings["lists"] = (value, workspace) => {
  const projects = member(value, "projects");
  const project =
    isJsonObject(projects ?? null) && workspace !== null ? member(projects as JsonObject, workspace) : null;
  return [
    member(value, "mcpServers"),
    ...(isJsonObject(project ?? null) ? [member(project as JsonObject, "mcpServers")] : []),
  ];
};

const [SERVERS, CODEX_LIST, OPENCODE_LIST, VSCODE_LIST] = ["mcpServers", "mcp_servers", "mcp", "servers"];

export const SERVER_SETTINGS: ReadonlyMap<string, readonly ServerSettings[]> = new Map<
  string,
  readonly ServerSettings[]
>([
  [
    "claude",
    [
      { scope: "project", path: ".mcp.json", lists: under(SERVERS) },
      { scope: "user", path: ".claude.json", lists: ofClaude },
    ],
  ],
  [
    "codex",
    [
      { scope: "project", path: ".codex/config.toml", lists: under(CODEX_LIST) },
      { scope: "user", path: ".codex/config.toml", lists: under(CODEX_LIST) },
    ],
  ],
  [
    "opencode",
    [
      { scope: "project", path: "opencode.json", lists: under(OPENCODE_LIST) },
      { scope: "project", path: "opencode.jsonc", lists: under(OPENCODE_LIST) },
      { scope: "user", path: ".config/opencode/opencode.json", lists: under(OPENCODE_LIST) },
    ],
  ],
  [
    "cursor",
    [
      { scope: "project", path: ".cursor/mcp.json", lists: under(SERVERS) },
      { scope: "user", path: ".cursor/mcp.json", lists: under(SERVERS) },
    ],
  ],
  [
    "vscode",
    [
      { scope: "project", path: ".vscode/mcp.json", lists: under(VSCODE_LIST) },
      { scope: "user", path: ".config/Code/User/mcp.json", lists: under(VSCODE_LIST) },
    ],
  ],
  [
    "gemini",
    [
      { scope: "project", path: ".gemini/settings.json", lists: under(SERVERS) },
      { scope: "user", path: ".gemini/settings.json", lists: under(SERVERS) },
    ],
  ],
]);

const serversMax = 256;
const wordsMax = 256;

/** The servers of one file, in the order they are written. */
export function clientServers(
  settings: ServerSettings,
  value: Json,
  file: string,
  workspace: string | null,
): readonly ClientServer[] {
  if (!isJsonObject(value)) return [];
  return settings
    .lists(value, workspace)
    .flatMap((list) => (isJsonObject(list ?? null) ? Object.entries(list as JsonObject) : []))
    .slice(0, serversMax)
    .map(([name, entry]) => ({ name, file, ...readEntry(entry) }));
}

function readEntry(entry: Json): Pick<ClientServer, "isEnabled" | "endpoint"> {
  const other = (why: string): ReturnType<typeof readEntry> => ({ isEnabled: true, endpoint: { kind: "other", why } });
  if (!isJsonObject(entry)) return other("it is not a map");
  const isEnabled = member(entry, "enabled") !== false && member(entry, "disabled") !== true;
  const url = ["url", "httpUrl", "serverUrl"].map((key) => member(entry, key)).find((one) => typeof one === "string");
  if (typeof url === "string") {
    const isOlder =
      member(entry, "type") === "sse" || (member(entry, "httpUrl") === undefined && /\/sse\/?$/.test(url));
    if (isOlder) return other("it uses the deprecated HTTP+SSE transport: look for its `/mcp` address");
    const headers = [
      ...texts(member(entry, "headers")),
      ...texts(member(entry, "http_headers")),
      ...texts(member(entry, "env_http_headers")).map(([name, variable]) => [name, `\${${variable}}`] as const),
    ];
    const bearer = member(entry, "bearer_token_env_var");
    const token = typeof bearer === "string" ? [["Authorization", `Bearer \${${bearer}}`] as const] : [];
    return { isEnabled, endpoint: { kind: "http", url, headers: [...headers, ...token] } };
  }
  const [command, args] = [member(entry, "command"), member(entry, "args")];
  const words = [...(isJsonList(command ?? null) ? (command as readonly Json[]) : [command]), ...listOf(args)];
  if (words.length > wordsMax || words.some((word) => typeof word !== "string") || words[0] === "")
    return other("it has neither a valid command nor an address");
  const environment = [...texts(member(entry, "env")), ...texts(member(entry, "environment"))];
  const passed = listOf(member(entry, "env_vars")).filter((one) => typeof one === "string");
  return { isEnabled, endpoint: { kind: "program", command: words as string[], environment, passed } };
}

function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isJsonList(value) ? value : [];
}

/** Numbers and flags are texts of variables, too. */
function texts(value: Json | undefined): readonly (readonly [string, string])[] {
  if (value === undefined || !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    typeof one === "string" || typeof one === "number" || typeof one === "boolean"
      ? [[name, String(one)] as const]
      : [],
  );
}
