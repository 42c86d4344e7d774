// A proposal for the argument map of a tool, from its schema and its name: for a person to look at, never used by itself.
import { isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { ArgumentMap, MappedVerb } from "../core/notation/servers/argument-map.ts";

const argumentsMax = 16;
const PATH = /^(?:.*_)?(?:path|file|filename|file_?path|dir|directory|folder|source|destination|target|from|to)s?$/i;
const ADDRESS = /^(?:.*_)?(?:url|uri|address|link|endpoint)s?$/i;
const TARGET = /^(?:.*_)?(?:destination|target|to)s?$/i;

/** By words of the tool's name; a name that says nothing may do anything. */
const VERBS: readonly (readonly [name: RegExp, paths: readonly MappedVerb[], addresses: readonly MappedVerb[]])[] = [
  [/(?:^|[_.-])(?:move|rename)/i, ["fs.read", "fs.delete"], ["net.get", "net.post"]],
  [/(?:^|[_.-])(?:delete|remove|unlink|rm)/i, ["fs.delete"], ["net.delete"]],
  [/(?:^|[_.-])(?:edit|update|patch|append|replace)/i, ["fs.read", "fs.write"], ["net.put"]],
  [/(?:^|[_.-])(?:write|create|save|put|mkdir)/i, ["fs.write"], ["net.post"]],
  [/(?:^|[_.-])(?:read|get|list|search|find|view|show|tree|stat|info|fetch|open|load)/i, ["fs.read"], ["net.get"]],
  [/./, ["fs.read", "fs.write", "fs.delete"], ["net.get", "net.post"]],
];

/** Empty where no argument looks like a path or an address. */
export function proposedMap(tool: string, schema: JsonObject): ArgumentMap {
  const properties = member(schema, "properties");
  const required = member(schema, "required");
  const names = isJsonObject(properties) ? Object.entries(properties).slice(0, argumentsMax) : [];
  const found = VERBS.find(([name]) => name.test(tool));
  const paths: readonly MappedVerb[] = found?.[1] ?? [];
  const addresses: readonly MappedVerb[] = found?.[2] ?? [];
  return names.flatMap(([name, property]) => {
    const isPath = PATH.test(name);
    const kind = textKind(property);
    if (kind === null || (!isPath && !ADDRESS.test(name)) || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) return [];
    const isOptional = !(Array.isArray(required) && required.includes(name));
    const verbs = !isPath
      ? addresses
      : TARGET.test(name) && paths.includes("fs.delete")
        ? (["fs.write"] as const)
        : paths;
    const steps = kind === "list" ? [name, null] : [name];
    const text = `$.${name}${kind === "list" ? "[*]" : ""}${isOptional ? "?" : ""}`;
    return verbs.map((verb) => ({ verb, steps, isOptional, text }));
  });
}

function textKind(property: Json): "text" | "list" | null {
  if (!isJsonObject(property)) return null;
  const type = member(property, "type");
  if (type === "string") return "text";
  const items = member(property, "items");
  return type === "array" && isJsonObject(items) && member(items, "type") === "string" ? "list" : null;
}
