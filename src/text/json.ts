// JSON to a tree: RFC 8259 without extensions, no duplicate key, no number that loses digits.
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Range, Source } from "../core/notation/source.ts";
import type { TreeNode } from "../core/notation/tree.ts";
import type { Draft } from "./draft.ts";
import { Entries } from "./entries.ts";
import { depthMax, nodesMax, type TextTree } from "./read.ts";
import { readWith } from "./reader.ts";

export function readJson(source: Source, range?: Range): TextTree {
  return readWith(source, range, "data", (text, draft) => {
    if (!isBounded(text, draft)) return null;
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, {
      disallowComments: true,
      allowTrailingComma: false,
      allowEmptyContent: false,
    });
    const [error] = errors;
    if (error !== undefined) return draft.refuse("syntax", rangeOf(error), messageOf(printParseErrorCode(error.error)));
    return root === undefined ? null : convert(root, text, 1, draft);
  });
}

/** A value is one token and at most three punctuation marks. */
const tokensMax = nodesMax * 4;

/** The scanner's token numbers; its own names are constant enums, which a module cannot import. */
const kinds = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  unknown: 16,
  end: 17,
} as const;

/** The scanner's error numbers, from 1. */
const scanMessages: readonly string[] = [
  "the comment is not closed",
  "the string is not closed on its line",
  "the number is not complete",
  "`\\u` must be followed by four hexadecimal digits",
  'a backslash must be followed by one of " \\ / b f n r t u',
  "a control character in a string must be escaped",
];

/** One pass without recursion before the parser, which recurses: bounds its depth and its tokens. */
function isBounded(text: string, draft: Draft): boolean {
  const scanner = createScanner(text, false);
  let depth = 0;
  let count = 0;
  for (let kind: number = scanner.scan(); kind !== kinds.end; kind = scanner.scan()) {
    if (kind === kinds.space || kind === kinds.lineBreak) continue;
    const range = rangeOf({ offset: scanner.getTokenOffset(), length: scanner.getTokenLength() });
    const error: number = scanner.getTokenError();
    if (kind === kinds.openBrace || kind === kinds.openBracket) depth++;
    if (kind === kinds.closeBrace || kind === kinds.closeBracket) depth--;
    if (depth > depthMax) draft.refuse("too_large", range, `lists and maps are nested more than ${depthMax} deep`);
    else if (++count > tokensMax) draft.refuse("too_large", range, `the text has more than ${tokensMax} tokens`);
    else if (kind === kinds.lineComment || kind === kinds.blockComment)
      draft.refuse("syntax", range, "JSON has no comments", "remove the comment");
    else if (kind === kinds.unknown)
      draft.refuse(
        "syntax",
        range,
        "this is not JSON",
        "put text in double quotes; the only words are true, false and null",
      );
    else if (error !== 0) draft.refuse("syntax", range, scanMessages[error - 1] ?? "this is not JSON");
    if (draft.refused) return false;
  }
  return true;
}

function convert(node: Node, text: string, depth: number, draft: Draft): TreeNode | null {
  const range = rangeOf(node);
  const children = node.children ?? [];
  const isLeaf = node.type !== "array" && node.type !== "object";
  if (!draft.admit(range, isLeaf ? depth - 1 : depth)) return null;
  switch (node.type) {
    case "string":
    case "boolean":
    case "null":
      return draft.scalar(node.value as string | boolean | null, range);
    case "number":
      return draft.number(text.slice(range.start, range.end), range);
    case "array": {
      const items = children.map((child) => convert(child, text, depth + 1, draft)).filter((item) => item !== null);
      return { kind: "list", items, span: draft.span(range) };
    }
    case "object": {
      const entries = new Entries(draft);
      for (const { children: [key, value] = [] } of children) {
        if (key === undefined || value === undefined) return draft.refuse("syntax", range, "a key without a value");
        entries.add(key.value as string, rangeOf(key), convert(value, text, depth + 1, draft));
      }
      return { kind: "map", entries: entries.list, span: draft.span(range) };
    }
    default:
      return draft.refuse("syntax", range, "this is not a JSON value");
  }
}

function rangeOf({ offset, length }: { readonly offset: number; readonly length: number }): Range {
  return { start: offset, end: offset + length };
}

/** `CommaExpected` becomes "comma expected". */
function messageOf(code: string): string {
  return code.replace(/(?<!^)([A-Z])/g, " $1").toLowerCase();
}
