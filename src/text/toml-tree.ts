// Converts TOML tables and values to our tree.
import type { AST } from "toml-eslint-parser";
import type { TreeNode } from "../core/notation/tree.ts";
import type { Draft } from "./draft.ts";
import { Entries } from "./entries.ts";
import { gather, rangeOf, TomlTable, type TomlValue } from "./toml-table.ts";

export function tomlTree(top: AST.TOMLTopLevelTable, text: string, draft: Draft): TreeNode | null {
  const root = new TomlTable({ start: 0, end: text.length }, "header");
  gather(root, top.body, draft);
  return draft.refused ? null : fromTable(root, text, 1, draft);
}

function convert(value: TomlValue, text: string, depth: number, draft: Draft): TreeNode | null {
  if (value instanceof TomlTable) return fromTable(value, text, depth, draft);
  if (Array.isArray(value)) return fromTables(value, text, depth, draft);
  switch (value.type) {
    case "TOMLInlineTable": {
      const table = new TomlTable(rangeOf(value), "dotted");
      gather(table, value.body, draft);
      return draft.refused ? null : fromTable(table, text, depth, draft);
    }
    case "TOMLArray": {
      if (!draft.admit(rangeOf(value), depth)) return null;
      const items = value.elements.map((item) => convert(item, text, depth + 1, draft)).filter((item) => item !== null);
      return { kind: "list", items, span: draft.span(rangeOf(value)) };
    }
    case "TOMLValue":
      return fromScalar(value, text, draft);
    default:
      return value satisfies never;
  }
}

function fromTable(table: TomlTable, text: string, depth: number, draft: Draft): TreeNode | null {
  if (!draft.admit(table.range, depth)) return null;
  const entries = new Entries(draft);
  for (const [key, member] of table.members)
    entries.add(key, member.key, convert(member.value, text, depth + 1, draft));
  return { kind: "map", entries: entries.list, span: draft.span(table.range) };
}

function fromTables(tables: readonly TomlTable[], text: string, depth: number, draft: Draft): TreeNode | null {
  const range = { start: tables[0]?.range.start ?? 0, end: tables.at(-1)?.range.end ?? 0 };
  if (!draft.admit(range, depth)) return null;
  const items = tables.map((table) => fromTable(table, text, depth + 1, draft)).filter((item) => item !== null);
  return { kind: "list", items, span: draft.span(range) };
}

function fromScalar(value: AST.TOMLValue, text: string, draft: Draft): TreeNode | null {
  const range = rangeOf(value);
  if (!draft.admit(range, 0)) return null;
  switch (value.kind) {
    case "string":
    case "boolean":
      return draft.scalar(value.value, range);
    case "integer":
    case "float":
      return draft.number(text.slice(range.start, range.end).replaceAll("_", ""), range);
    case "offset-date-time":
    case "local-date-time":
    case "local-date":
    case "local-time":
      return draft.scalar(text.slice(range.start, range.end), range);
    default:
      return value satisfies never;
  }
}
