// A declaration that is a value already, as code writes it: the same readers, with no text to point into.
import type { Span } from "../../authority/grant.ts";
import { copyJson, isJsonList, isJsonObject, type Json } from "../../base/json.ts";
import type { Reading } from "../reading.ts";
import type { TreeNode } from "../tree.ts";
import { type DeclarationReading, readDeclaration } from "./declaration.ts";

/** Its diagnostics have a span of no length; `source` says whose it is. */
export function readDeclarationValue(value: unknown, reading: Reading, source = "declaration"): DeclarationReading {
  const span: Span = { source, start: 0, end: 0 };
  const plain = copyJson(value);
  return readDeclaration(plain === undefined ? { kind: "scalar", value: null, span } : treeOf(plain, span), reading);
}

function treeOf(value: Json, span: Span): TreeNode {
  if (isJsonList(value)) return { kind: "list", items: value.map((one) => treeOf(one, span)), span };
  if (!isJsonObject(value)) return { kind: "scalar", value, span };
  const entries = Object.entries(value).map(([key, one]) => ({ key, keySpan: span, value: treeOf(one, span) }));
  return { kind: "map", entries, span };
}
