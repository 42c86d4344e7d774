// Parsed JSON as the tree the notation parsers read. Spans are positions in the value's compact JSON text.
import type { Span } from "../../src/core/authority/grant.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import type { Entry, TreeNode } from "../../src/core/notation/tree.ts";

export function treeOf(value: Json, source = "vector"): TreeNode {
  return nodeAt(value, 0, source).node;
}

interface Placed {
  readonly node: TreeNode;
  readonly end: number;
}

function nodeAt(value: Json, start: number, source: string): Placed {
  if (Array.isArray(value)) return listAt(value, start, source);
  if (isObject(value)) return mapAt(value, start, source);
  const end = start + JSON.stringify(value).length;
  return {
    node: { kind: "scalar", value: value as string | number | boolean | null, span: span(source, start, end) },
    end,
  };
}

function listAt(list: readonly Json[], start: number, source: string): Placed {
  let at = start + 1;
  const items = list.map((item) => {
    const placed = nodeAt(item, at, source);
    at = placed.end + 1;
    return placed.node;
  });
  const end = items.length === 0 ? at + 1 : at;
  return { node: { kind: "list", items, span: span(source, start, end) }, end };
}

function mapAt(map: JsonObject, start: number, source: string): Placed {
  let at = start + 1;
  const entries = Object.entries(map).map(([key, value]): Entry => {
    const keyEnd = at + JSON.stringify(key).length;
    const placed = nodeAt(value, keyEnd + 1, source);
    const entry = { key, keySpan: span(source, at, keyEnd), value: placed.node };
    at = placed.end + 1;
    return entry;
  });
  const end = entries.length === 0 ? at + 1 : at;
  return { node: { kind: "map", entries, span: span(source, start, end) }, end };
}

function span(source: string, start: number, end: number): Span {
  return { source, start, end };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
