import { expect, test } from "vitest";
import type { ToolDefinition } from "./definitions.ts";
import { shippedMap } from "./shipped-maps.ts";

const tool = (name: string, ...properties: readonly string[]): ToolDefinition => ({
  ...{ name, title: null, description: "", outputSchema: null, annotations: null },
  inputSchema: { type: "object", properties: Object.fromEntries(properties.map((one) => [one, {}])) },
});
const verbs = (server: string, one: ToolDefinition): readonly string[] | null =>
  shippedMap(server, one)?.map(({ verb, text }) => `${verb} ${text}`) ?? null;

test.each([
  ["secure-filesystem-server", tool("move_file", "source", "destination"), 3],
  ["mcp-servers/everything", tool("gzip-file-as-resource", "name", "data", "outputType"), 1],
  ["mcp-servers/everything", tool("get-env"), 0],
  ["memory-server", tool("search_nodes", "query"), 0],
  ["sequential-thinking-server", tool("sequentialthinking", "thought", "branchId"), 0],
])("%s: a tool as it was read has its map", (server, one, count) => {
  expect(verbs(server, one)).toHaveLength(count);
});

test.each([
  ["another server", "memory-servers", tool("search_nodes", "query")],
  ["another tool", "memory-server", tool("search_files", "query")],
  ["an argument that was not there", "memory-server", tool("search_nodes", "query", "path")],
  ["an argument that is gone", "secure-filesystem-server", tool("read_file", "file")],
  ["a name of every object", "constructor", tool("name")],
  ["a name of every object as a tool", "memory-server", tool("toString")],
])("%s has none", (_, server, one) => {
  expect(verbs(server, one)).toBeNull();
});
