// The daemon's list of tools in the protocol's form. Hints are for users who look at it: no decision depends on them.
import type { JsonObject } from "../core/base/json.ts";
import { isJsonObject, member } from "../core/base/json.ts";
import type { ToolView } from "../core/ports/daemon/daemon-calls.ts";

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object" } & JsonObject;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/** Sorted by name, whatever the order of the input. */
export function toMcpTools(tools: readonly ToolView[]): readonly ListedTool[] {
  return [...tools].sort((left, right) => (left.name < right.name ? -1 : 1)).map(listedTool);
}

function listedTool({ name, origin, description, input }: ToolView): ListedTool {
  const isObject = isJsonObject(input) && member(input, "type") === "object";
  const inputSchema = { ...(isObject ? input : {}), type: "object" } as ListedTool["inputSchema"];
  const annotations = origin === "builtin" ? hintsOf(name) : null;
  return { name, description, inputSchema, ...(annotations === null ? {} : { annotations }) };
}

const READING =
  /^(?:fs_(?:read|list|glob|grep)|web_search|memory_(?:get|list)|obs_query|records_(?:search|read|links)|agent_discover|skills_(?:list|read))$/;
const DESTROYING = /_(?:delete|write|edit|update|set)$/;
const OPEN = /^(?:web_|proc_|shell$|git$)/;

/** The effects of a program or a request are not known in advance, so no hint promises anything about them. */
function hintsOf(name: string): Readonly<Record<string, boolean>> {
  const readOnlyHint = READING.test(name);
  const openWorldHint = OPEN.test(name);
  if (readOnlyHint) return { readOnlyHint, openWorldHint };
  return { readOnlyHint, destructiveHint: openWorldHint || DESTROYING.test(name), openWorldHint };
}
