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
    list_allowed_directories: {},
  },
};

/** Null where there is none, or where the tool's schema does not have the arguments that the map names. */
export function shippedMap(server: string, tool: ToolDefinition): ArgumentMap | null {
  const tools = Object.hasOwn(SHIPPED, server) ? SHIPPED[server] : undefined;
  const written = tools !== undefined && Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
  if (written === undefined) return null;
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
