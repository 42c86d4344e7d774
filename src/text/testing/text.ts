// Shared by the tests of every reader: trees as one line of text, and the invariant of each read.
import { expect } from "vitest";
import type { Span } from "../../core/authority/grant.ts";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import type { Source } from "../../core/notation/source.ts";
import type { Scalar, TreeNode } from "../../core/notation/tree.ts";
import { depthMax, nodesMax, type TextTree } from "../read.ts";

/** A tree as JSON in source order; also shows keys that a JavaScript object would drop. */
export function shape(node: TreeNode | null): string {
  if (node === null) return "refused";
  if (node.kind === "scalar") return JSON.stringify(node.value);
  if (node.kind === "list") return `[${node.items.map(shape).join(",")}]`;
  return `{${node.entries.map((entry) => `${JSON.stringify(entry.key)}:${shape(entry.value)}`).join(",")}}`;
}

/** INVARIANT of the room: one tree with every span inside the text, or no tree and a diagnostic with a span inside it. */
export function checkRead(read: TextTree, source: Source): void {
  const wrong: string[] = [];
  const check = (holds: boolean, rule: string): void => {
    if (!holds) wrong.push(rule);
  };
  const isInside = ({ source: name, start, end }: Span): boolean =>
    name === source.name &&
    Number.isInteger(start) &&
    Number.isInteger(end) &&
    0 <= start &&
    start <= end &&
    end <= source.text.length;
  check((read.tree === null) === read.diagnostics.length > 0, "a tree or a diagnostic");
  for (const { severity, code, message, span } of read.diagnostics) {
    check(
      severity === "error" && (code === "syntax" || code === "too_large") && message !== "",
      `says ${severity} ${code} ${message}`,
    );
    check(isInside(span), `stands at ${JSON.stringify(span)}`);
  }
  let nodes = 0;
  const visit = (node: TreeNode, depth: number): void => {
    nodes++;
    check(isInside(node.span), `a node at ${JSON.stringify(node.span)}`);
    check(node.kind === "scalar" || depth <= depthMax, `depth ${depth}`);
    if (node.kind === "scalar") check(isPlain(node.value), `holds ${node.value}`);
    if (node.kind === "list") for (const item of node.items) visit(item, depth + 1);
    if (node.kind === "map") {
      check(new Set(node.entries.map((entry) => entry.key)).size === node.entries.length, "a key twice");
      for (const { key, keySpan, value } of node.entries) {
        check(isPlain(key) && isInside(keySpan), `key ${key} at ${JSON.stringify(keySpan)}`);
        visit(value, depth + 1);
      }
    }
  };
  if (read.tree !== null) visit(read.tree, 1);
  check(nodes <= nodesMax, `${nodes} nodes`);
  expect(wrong).toEqual([]);
}

function isPlain(value: Scalar["value"]): boolean {
  return typeof value === "string"
    ? isPlainText(value)
    : typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0));
}

/** Whether one text is the other with one character added, removed or replaced. */
export function isOneAway(one: string, other: string): boolean {
  const [short, long] = [[...one], [...other]].sort((a, b) => a.length - b.length) as [string[], string[]];
  const at = long.findIndex((character, index) => character !== short[index]);
  const rest = long.slice(at + 1).join("");
  return at !== -1 && (rest === short.slice(at).join("") || rest === short.slice(at + 1).join(""));
}
