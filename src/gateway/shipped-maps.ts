// Argument maps that come with ambit, for servers whose schemas were read when they were written. A map only adds requests:
// a server that claims another's name gets stricter, never wider.
import { isJsonObject, member } from "../core/base/json.ts";
import { type ArgumentMap, type MappedVerb, readPlaceText } from "../core/notation/servers/argument-map.ts";
import type { ToolDefinition } from "./definitions.ts";

type WrittenMap = Readonly<Partial<Record<MappedVerb, string | readonly string[]>>>;

/** By the name a server gives itself, then by its tool. */
const SHIPPED: Readonly<Record<string, Readonly<Record<string, WrittenMap>>>> = {
  "secure-filesystem-server": {
    read_file: { "fs.read": "$.path" },
    read_text_file: { "fs.read": "$.path" },
    read_media_file: { "fs.read": "$.path" },
    read_multiple_files: { "fs.read": "$.paths[*]" },
    write_file: { "fs.write": "$.path" },
    edit_file: { "fs.read": "$.path", "fs.write": "$.path" },
    create_directory: { "fs.write": "$.path" },
    list_directory: { "fs.read": "$.path" },
    list_directory_with_sizes: { "fs.read": "$.path" },
    directory_tree: { "fs.read": "$.path" },
    move_file: { "fs.read": "$.source", "fs.delete": "$.source", "fs.write": "$.destination" },
    search_files: { "fs.read": "$.path" },
    get_file_info: { "fs.read": "$.path" },
  },
  // Without the argument it fetches an address of its own choice: the call is refused then.
  "mcp-servers/everything": { "gzip-file-as-resource": { "net.get": "$.data" } },
};

/**
 * Tools whose arguments name neither files nor hosts, with all arguments that they had when they were read. One more argument, and
 * the tool counts as one without a map.
 */
const WITHOUT_TARGETS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "secure-filesystem-server": { list_allowed_directories: [] },
  "mcp-servers/everything": {
    echo: ["message"],
    "get-annotated-message": ["messageType", "includeImage"],
    "get-env": [],
    "get-resource-links": ["count"],
    "get-resource-reference": ["resourceType", "resourceId"],
    "get-structured-content": ["location"],
    "get-sum": ["a", "b"],
    "get-tiny-image": [],
    "simulate-research-query": ["topic", "ambiguous"],
    "toggle-simulated-logging": [],
    "toggle-subscriber-updates": [],
    "trigger-long-running-operation": ["duration", "steps"],
  },
  "memory-server": {
    add_observations: ["observations"],
    create_entities: ["entities"],
    create_relations: ["relations"],
    delete_entities: ["entityNames"],
    delete_observations: ["deletions"],
    delete_relations: ["relations"],
    open_nodes: ["names"],
    read_graph: [],
    search_nodes: ["query"],
  },
  "sequential-thinking-server": {
    sequentialthinking: [
      ...["thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts", "isRevision", "revisesThought"],
      ...["branchFromThought", "branchId", "needsMoreThoughts"],
    ],
  },
};

/** Null where there is none, or where the tool's schema does not have the arguments that the map names. */
export function shippedMap(server: string, tool: ToolDefinition): ArgumentMap | null {
  const written = entryIn(SHIPPED, server, tool.name);
  if (written === undefined) return isWithoutTargets(server, tool) ? [] : null;
  const map = Object.entries(written).flatMap(([verb, texts]) =>
    [texts].flat().map((text) => ({ verb: verb as MappedVerb, text, ...readPlaceText(text) })),
  );
  const properties = member(tool.inputSchema, "properties");
  const isKnown = map.every(
    ({ steps: [first] }) =>
      typeof first === "string" && isJsonObject(properties) && member(properties, first) !== undefined,
  );
  return isKnown ? map : null;
}

function isWithoutTargets(server: string, { name, inputSchema }: ToolDefinition): boolean {
  const read = entryIn(WITHOUT_TARGETS, server, name);
  const properties = member(inputSchema, "properties") ?? {};
  return read !== undefined && isJsonObject(properties) && Object.keys(properties).every((one) => read.includes(one));
}

/** Names are a server's own words. */
function entryIn<T>(
  table: Readonly<Record<string, Readonly<Record<string, T>>>>,
  server: string,
  tool: string,
): T | undefined {
  const tools = Object.hasOwn(table, server) ? table[server] : undefined;
  return tools !== undefined && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
}
