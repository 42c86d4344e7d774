// Converts the library's YAML nodes to our tree: keys are text, numbers are exact, every node is counted.
import { isMap, isScalar, isSeq, type ParsedNode, Scalar } from "yaml";
import { quoteText } from "../core/notation/quote-text.ts";
import type { Range } from "../core/notation/source.ts";
import type { TreeNode } from "../core/notation/tree.ts";
import type { Draft } from "./draft.ts";
import { Entries } from "./entries.ts";

export function yamlTree(contents: ParsedNode | null, draft: Draft): TreeNode | null {
  return convert(contents, { start: 0, end: 0 }, 1, draft);
}

/** `place` is the position of a missing value. */
function convert(node: ParsedNode | null, place: Range, depth: number, draft: Draft): TreeNode | null {
  const range = node === null ? place : rangeOf(node);
  if (!draft.admit(range, node === null || isScalar(node) ? depth - 1 : depth)) return null;
  if (node === null) return draft.scalar(null, range);
  if (isScalar(node)) return scalar(node, range, draft);
  if (isSeq(node)) {
    const items = node.items
      .map((item) => convert(item as ParsedNode, range, depth + 1, draft))
      .filter((item) => item !== null);
    return { kind: "list", items, span: draft.span(range) };
  }
  if (!isMap(node)) return draft.refuse("syntax", range, "this is not a list, a map or a scalar");
  const entries = new Entries(draft);
  for (const pair of node.items) {
    const keyNode = pair.key as ParsedNode | null;
    const keyRange = keyNode === null ? range : rangeOf(keyNode);
    const key = keyOf(keyNode, keyRange, draft);
    const value = convert(
      pair.value as ParsedNode | null,
      { start: keyRange.end, end: keyRange.end },
      depth + 1,
      draft,
    );
    if (key !== null) entries.add(key, keyRange, value);
  }
  return { kind: "map", entries: entries.list, span: draft.span(range) };
}

/** A plain scalar keeps its source text, so that `1.0` and `1` are different keys, and `on` is not `true`. */
function keyOf(node: ParsedNode | null, range: Range, draft: Draft): string | null {
  if (node === null || !isScalar(node))
    return draft.refuse("syntax", range, "a key must be text", "write `key: value`");
  if (node.type !== Scalar.PLAIN) return typeof node.value === "string" ? node.value : null;
  if (node.value === null)
    return draft.refuse("syntax", range, "a key may not be empty or null", `quote it: ${quoteText(node.source ?? "")}`);
  if (node.source === "<<")
    return draft.refuse("syntax", range, "merge keys (`<<`) are refused; write the entries out", `quote it: "<<"`);
  return node.source ?? null;
}

function scalar(node: Scalar, range: Range, draft: Draft): TreeNode | null {
  const { value } = node;
  const source = node.source ?? "";
  switch (typeof value) {
    case "string":
    case "boolean":
      return draft.scalar(value, range);
    case "number":
      // Older readers take a leading zero for octal: 0700 would be two different numbers.
      if (/^[-+]?0\d/.test(source))
        return draft.refuse(
          "syntax",
          range,
          "a number may not begin with a zero",
          `write ${Number(source)}, or quote it: ${quoteText(source)}`,
        );
      return draft.number(source, range);
    default:
      if (value === null) return draft.scalar(null, range);
      return draft.refuse("syntax", range, "this value has no meaning here");
  }
}

function rangeOf(node: ParsedNode): Range {
  return { start: node.range[0], end: Math.max(node.range[0], endOf(node)) };
}

/** The library ends a block collection after the blank lines that follow it; a reader expects the end of its last value. */
function endOf(node: ParsedNode): number {
  if (isSeq(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last === undefined || last === null ? node.range[1] : endOf(last as ParsedNode);
  }
  if (isMap(node) && node.flow !== true) {
    const last = node.items.at(-1);
    const end = (last?.value ?? last?.key ?? null) as ParsedNode | null;
    return end === null ? node.range[1] : endOf(end);
  }
  return node.range[1];
}
