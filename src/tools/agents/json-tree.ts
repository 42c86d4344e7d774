// A model's JSON as the tree that notations parse. It has no source positions.
import type { Span } from "../../core/authority/grant.ts";
import { isJsonList, isJsonObject, type Json } from "../../core/base/json.ts";
import type { TreeNode } from "../../core/notation/tree.ts";

const NOWHERE: Span = { source: "input", start: 0, end: 0 };

/** INVARIANT: the gate has copied the value before, so its depth is bounded. */
export function jsonTree(value: Json): TreeNode {
  if (isJsonList(value)) return { kind: "list", items: value.map(jsonTree), span: NOWHERE };
  if (!isJsonObject(value)) return { kind: "scalar", value, span: NOWHERE };
  const entries = Object.entries(value).map(([key, one]) => ({ key, keySpan: NOWHERE, value: jsonTree(one) }));
  return { kind: "map", entries, span: NOWHERE };
}
