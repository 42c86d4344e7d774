// An example of a tool's input, made from its schema: what a person copies and changes.
import { isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { inputParser } from "./input.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Values that read well, by the name of the argument. */
const WORDS: Readonly<Record<string, string>> = {
  agent: "scout",
  class: "note",
  content: "some text",
  id: "notes/today",
  in: ".",
  key: "notes/today",
  path: "README.md",
  pattern: "**/*.md",
  query: "release",
  url: "https://example.com/",
};
const LISTS: Readonly<Record<string, readonly string[]>> = {
  argv: ["ls", "-A"],
  can: ["net.get"],
  grants: ["net.get{hosts=[api.example.com]}"],
};
/** For tools that need one of several arguments, which a schema of ours cannot say. */
const WHOLE: Readonly<Record<string, JsonObject>> = { shell: { script: "ls | wc -l" } };

/** The required arguments; null if no example can be made that the schema accepts. */
export function exampleInput(tool: string, schema: JsonSchema): JsonObject | null {
  const example = WHOLE[tool] ?? exampleOf("", schema);
  return isJsonObject(example) && inputParser(schema).accept(example).ok ? example : null;
}

function exampleOf(name: string, schema: JsonSchema): Json {
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  const [one] = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (schema.type === undefined && one !== undefined) return exampleOf(name, one);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object": {
      const { properties = {}, required = [] } = schema;
      return Object.fromEntries(required.map((key) => [key, exampleOf(key, properties[key] ?? {})]));
    }
    case "array":
      return [...(LISTS[name] ?? [exampleOf(name, schema.items ?? {})])];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return WORDS[name] ?? "text";
  }
}
