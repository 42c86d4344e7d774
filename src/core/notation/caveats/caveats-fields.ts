// The shape of caveats: which six fields there are and what each may hold. Nothing here knows what they mean.
import type { Span } from "../../authority/grant.ts";
import { patternsPerScopeMax } from "../../base/limits.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, type Text } from "../scope/scope-values.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";

/** A list of entries, or null for everything. */
export interface Field {
  readonly only: readonly Text[] | null;
  readonly span: Span;
}

export interface CaveatsFields {
  readonly fs_read: Field;
  readonly fs_write: Field;
  readonly exec: Field;
  readonly net: Field;
  readonly max_calls: number | null;
  readonly valid_for_generation: readonly number[] | null;
}

const FIELDS = ["fs_read", "fs_write", "exec", "net", "max_calls", "valid_for_generation"] as const;
type FieldName = (typeof FIELDS)[number];

/** Null when anything is missing, unknown or of the wrong shape; every mistake is told. */
export function readFields(node: TreeNode, diagnostics: Diagnostics): CaveatsFields | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `caveats are a map of ${FIELDS.join(", ")}, not ${kindName(node)}`);
    return null;
  }
  const before = diagnostics.list.length;
  for (const { key, keySpan } of node.entries) {
    if (!FIELDS.some((field) => field === key))
      diagnostics.error("unknown_key", keySpan, `${quoteText(key)} is not a field of caveats`, {
        suggestion: nearestName(key, FIELDS),
      });
  }
  const texts = (name: FieldName): Field => readList(node, name, diagnostics, textAt);
  const calls = readCalls(node, diagnostics);
  const generations = readList(node, "valid_for_generation", diagnostics, countAt);
  const fields: CaveatsFields = {
    fs_read: texts("fs_read"),
    fs_write: texts("fs_write"),
    exec: texts("exec"),
    net: texts("net"),
    max_calls: calls,
    valid_for_generation: generations.only,
  };
  return diagnostics.list.length === before ? fields : null;
}

function textAt(item: TreeNode): Text | null {
  return item.kind === "scalar" && typeof item.value === "string" ? { text: item.value, span: item.span } : null;
}

function countAt(item: TreeNode): number | null {
  return item.kind === "scalar" && isCount(item.value) ? item.value : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** `"all"` or `{only: [...]}`. After an error the list is empty, and the caller drops everything anyway. */
function readList<T>(
  node: Mapping,
  name: FieldName,
  diagnostics: Diagnostics,
  read: (item: TreeNode) => T | null,
): { readonly only: readonly T[] | null; readonly span: Span } {
  const value = fieldOf(node, name, diagnostics);
  const span = value?.span ?? node.span;
  if (value === null) return { only: [], span };
  if (value.kind === "scalar" && value.value === "all") return { only: null, span };
  const only = soleValue(value, "only");
  if (only?.kind !== "list" || only.items.length > patternsPerScopeMax) {
    const code = only?.kind === "list" ? "too_large" : "wrong_type";
    diagnostics.error(code, span, `\`${name}\` is "all" or a map with \`only\` and a list`, {
      fix: `"${name}": {"only": []}`,
    });
    return { only: [], span };
  }
  const found: T[] = [];
  for (const item of only.items) {
    const one = read(item);
    if (one !== null) found.push(one);
    else diagnostics.error("wrong_type", item.span, `\`${name}\` cannot contain ${kindName(item)}`);
  }
  return { only: found, span };
}

function readCalls(node: Mapping, diagnostics: Diagnostics): number | null {
  const value = fieldOf(node, "max_calls", diagnostics);
  if (value === null || (value.kind === "scalar" && value.value === "unlimited")) return null;
  const count = soleValue(value, "at_most");
  if (count?.kind === "scalar" && isCount(count.value)) return count.value;
  diagnostics.error("wrong_type", value.span, '`max_calls` is "unlimited" or a map with `at_most` and a whole number', {
    fix: '"max_calls": {"at_most": 0}',
  });
  return null;
}

function fieldOf(node: Mapping, name: FieldName, diagnostics: Diagnostics): TreeNode | null {
  const entry = entryOf(node, name);
  if (entry === null)
    diagnostics.error("missing_field", node.span, `\`${name}\` is missing; all six fields are required`, {
      fix: `"${name}": ${MISSING[name]}`,
    });
  return entry?.value ?? null;
}

/** What to write for a field that is missing: nothing. */
const MISSING: Readonly<Record<FieldName, string>> = {
  fs_read: '{"only": []}',
  fs_write: '{"only": []}',
  exec: '{"only": []}',
  net: '{"only": []}',
  max_calls: '{"at_most": 0}',
  valid_for_generation: '"all"',
};

/** The value of a map with exactly this one key. */
function soleValue(node: TreeNode, key: string): TreeNode | null {
  return node.kind === "map" && node.entries.length === 1 && node.entries[0]?.key === key
    ? node.entries[0].value
    : null;
}
