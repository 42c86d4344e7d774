// Proposals of argument maps: what a schema and a name suggest.
import { expect, test } from "vitest";
import { argumentMapText } from "../core/notation/servers/argument-map.ts";
import { proposedMap } from "./propose-map.ts";

const schema = (names: readonly string[], required: readonly string[] = names): never =>
  ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required,
  }) as never;

test.each([
  ["read_file", schema(["path"]), "{ fs.read: $.path }"],
  ["write_file", schema(["path", "content"]), "{ fs.write: $.path }"],
  [
    "move_file",
    schema(["source", "destination"]),
    "{ fs.read: $.source, fs.delete: $.source, fs.write: $.destination }",
  ],
  ["search", schema(["query", "folder"], ["query"]), "{ fs.read: $.folder? }"],
  ["frobnicate", schema(["path"]), "{ fs.read: $.path, fs.write: $.path, fs.delete: $.path }"],
  ["fetch", schema(["url"]), "{ net.get: $.url }"],
  ["add", schema(["a", "b"]), "{}"],
  [
    "read_many",
    {
      type: "object",
      properties: { paths: { type: "array", items: { type: "string" } } },
      required: ["paths"],
    } as never,
    '{ fs.read: "$.paths[*]" }',
  ],
])("%s", (tool, input, map) => {
  expect(argumentMapText(proposedMap(tool, input))).toBe(map);
});
