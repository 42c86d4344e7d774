// What an MCP server says about itself, as data: its tools within limits, and why one of them is not offered. Nothing in
// it grants anything.
import { copyJson, isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import { likeness, parseToolName } from "../runtime/tool/tool-name.ts";

export interface ToolDefinition {
  /** As the server calls it. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** Hints of the server, for a person to read. */
  readonly annotations: JsonObject | null;
}

export interface ToolRefusal {
  readonly tool: string;
  readonly why: string;
}

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

export interface ServerDescription {
  readonly identity: ServerIdentity;
  /** For a person to read; no client and no model gets it. */
  readonly instructions: string;
  readonly tools: readonly ToolDefinition[];
  readonly refused: readonly ToolRefusal[];
}

/** More tools than this are not offered at all: which of them would be, a server could choose by their order. */
export const toolsOfServerMax = 2_048;
const definitionCharactersMax = 65_536;
const identityCharactersMax = 256;
export const instructionsCharactersMax = 65_536;
const refusedNameCharactersMax = 200;

/** The name under which a client calls a tool of a server. */
export function offeredName(server: string, tool: string): string {
  return `${server}__${tool}`;
}

/** `listed`: all pages of its list of tools. */
export function readDescription(server: string, initialized: JsonObject, listed: readonly Json[]): ServerDescription {
  const info = member(initialized, "serverInfo");
  const text = (value: Json | undefined, charactersMax: number): string =>
    typeof value === "string" ? value.slice(0, charactersMax) : "";
  const identity = {
    name: isJsonObject(info) ? text(member(info, "name"), identityCharactersMax) : "",
    version: isJsonObject(info) ? text(member(info, "version"), identityCharactersMax) : "",
  };
  const instructions = text(member(initialized, "instructions"), instructionsCharactersMax);
  if (listed.length > toolsOfServerMax) {
    const why = `the server has more than ${toolsOfServerMax} tools, so none of them is offered`;
    return { identity, instructions, tools: [], refused: [{ tool: "*", why }] };
  }
  const refused: ToolRefusal[] = [];
  const tools: ToolDefinition[] = [];
  for (const one of listed) {
    const read = readTool(server, one);
    if ("why" in read) refused.push(read);
    else tools.push(read);
  }
  const alike = new Map<string, number>();
  for (const { name } of tools) alike.set(likeness(name), (alike.get(likeness(name)) ?? 0) + 1);
  const isAlone = ({ name }: ToolDefinition): boolean => alike.get(likeness(name)) === 1;
  for (const tool of tools)
    if (!isAlone(tool))
      refused.push({ tool: tool.name, why: "another tool of the server has this name, or one that looks like it" });
  const sorted = tools.filter(isAlone).sort((left, right) => (left.name < right.name ? -1 : 1));
  return { identity, instructions, tools: sorted, refused };
}

function readTool(server: string, value: Json): ToolDefinition | ToolRefusal {
  const object = isJsonObject(value) ? value : {};
  const name = member(object, "name");
  const refusal = (why: string): ToolRefusal => ({
    tool: (typeof name === "string" ? name : "(no name)").slice(0, refusedNameCharactersMax),
    why,
  });
  if (typeof name !== "string") return refusal("it has no name");
  if (!/^[A-Za-z0-9_.-]+$/.test(name))
    return refusal("its name has characters other than letters, digits, _, - and dots");
  const offered = parseToolName(offeredName(server, name), "foreign");
  if (!offered.ok) return refusal(offered.message);
  const [title, description, annotations] = ["title", "description", "annotations"].map((key) => member(object, key));
  const input = member(object, "inputSchema");
  const output = member(object, "outputSchema");
  if (!isJsonObject(input) || member(input, "type") !== "object")
    return refusal("its input schema is not the schema of an object");
  if (description !== undefined && typeof description !== "string") return refusal("its description is not text");
  const definition: ToolDefinition = {
    name,
    title: typeof title === "string" ? title : null,
    description: description ?? "",
    inputSchema: input,
    outputSchema: isJsonObject(output) ? output : null,
    annotations: isJsonObject(annotations) ? annotations : null,
  };
  if (JSON.stringify(definition).length > definitionCharactersMax)
    return refusal(`its definition has more than ${definitionCharactersMax} characters`);
  const away = remoteReference(input) ?? (isJsonObject(output) ? remoteReference(output) : null);
  if (away !== null) return refusal("its schema refers to another document");
  return definition;
}

/** A `$ref` that leaves the schema would be fetched by readers of the schema. */
function remoteReference(schema: Json): string | null {
  if (isJsonList(schema)) {
    for (const item of schema) {
      const found = remoteReference(item);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isJsonObject(schema)) return null;
  for (const [key, value] of Object.entries(schema)) {
    const isReference = key === "$ref" || key === "$dynamicRef" || key === "$recursiveRef";
    if (isReference && typeof value === "string" && !value.startsWith("#")) return value;
    const found = remoteReference(value);
    if (found !== null) return found;
  }
  return null;
}

/** A definition in its stored form; null for anything else. */
export function readStoredTool(value: Json): ToolDefinition | null {
  if (!isJsonObject(value)) return null;
  const { name, title, description, inputSchema, outputSchema, annotations } = value;
  const objectOrNull = (one: Json | undefined): one is JsonObject | null => one === null || isJsonObject(one);
  if (typeof name !== "string" || typeof description !== "string" || !isJsonObject(inputSchema)) return null;
  if (!objectOrNull(outputSchema) || !objectOrNull(annotations)) return null;
  if (title !== null && typeof title !== "string") return null;
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** A private copy: what a server sent is not shared with what is stored. */
export function copiedTool(tool: ToolDefinition): JsonObject {
  return (copyJson(tool) ?? {}) as JsonObject;
}
