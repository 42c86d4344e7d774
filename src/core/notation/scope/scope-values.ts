// Typed access to the values of a scope. Each reader answers null after it has said what is wrong and where.
import type { Span } from "../../authority/grant.ts";
import { patternsPerScopeMax } from "../../base/limits.ts";
import type { Refusal, Result } from "../../base/result.ts";
import type { DiagnosticCode, Diagnostics } from "../diagnostic.ts";
import type { Entry, Scalar, TreeNode } from "../tree.ts";

export interface Text {
  readonly text: string;
  readonly span: Span;
}

/** A list of strings. An empty list is an empty list: nothing, never "any". */
export function textsOf(entry: Entry, diagnostics: Diagnostics): readonly Text[] | null {
  const items = itemsOf(entry, diagnostics);
  if (items === null) return null;
  const texts: Text[] = [];
  for (const item of items) {
    if (typeof item.value === "string") texts.push({ text: item.value, span: item.span });
    else
      diagnostics.error("wrong_type", item.span, `\`${entry.key}\` must be text, not ${kindName(item)}`, quoted(item));
  }
  return texts.length === items.length ? texts : null;
}

/** A list of scalars. */
export function itemsOf(entry: Entry, diagnostics: Diagnostics): readonly Scalar[] | null {
  const { key, value } = entry;
  if (value.kind !== "list") {
    const fix =
      value.kind === "scalar" && value.value !== null ? `${key}: [${JSON.stringify(value.value)}]` : `${key}: []`;
    diagnostics.error("wrong_type", value.span, `\`${key}\` must be a list, not ${kindName(value)}`, { fix });
    return null;
  }
  if (value.items.length > patternsPerScopeMax) {
    diagnostics.error("too_large", value.span, `\`${key}\` has more than ${patternsPerScopeMax} entries`);
    return null;
  }
  const items: Scalar[] = [];
  for (const item of value.items) {
    if (item.kind === "scalar") items.push(item);
    else
      diagnostics.error("wrong_type", item.span, `\`${key}\` must be a list of single values, not ${kindName(item)}`);
  }
  return items.length === value.items.length ? items : null;
}

/** Reads each string of a list; all of them are read, so that every mistake is told at once. */
export function readEach<T>(
  entry: Entry,
  diagnostics: Diagnostics,
  read: (text: string) => Result<readonly T[]>,
): readonly T[] | null {
  const texts = textsOf(entry, diagnostics);
  if (texts === null) return null;
  const found: T[] = [];
  let failed = false;
  for (const { text, span } of texts) {
    const result = read(text);
    if (!result.ok) reportRefusal(result, span, diagnostics);
    else for (const one of result.value) found.push(one);
    failed ||= !result.ok;
  }
  if (found.length > patternsPerScopeMax) {
    diagnostics.error(
      "too_large",
      entry.value.span,
      `\`${entry.key}\` expands to more than ${patternsPerScopeMax} patterns`,
    );
    return null;
  }
  return failed ? null : found;
}

export function textOf(entry: Entry, diagnostics: Diagnostics): Text | null {
  const { key, value } = entry;
  if (value.kind === "scalar" && typeof value.value === "string") return { text: value.value, span: value.span };
  diagnostics.error("wrong_type", value.span, `\`${key}\` must be text, not ${kindName(value)}`, quoted(value));
  return null;
}

/** `narrow`: the value that allows less, which is proposed where neither is written. */
export function flagOf(entry: Entry, diagnostics: Diagnostics, narrow = true): boolean | null {
  const { key, value } = entry;
  if (value.kind === "scalar" && typeof value.value === "boolean") return value.value;
  diagnostics.error("wrong_type", value.span, `\`${key}\` must be true or false, not ${kindName(value)}`, {
    fix: `${key}: ${narrow}`,
  });
  return null;
}

/** One result as a list of one, for `readEach`. */
export function single<T>(result: Result<T>): Result<readonly T[]> {
  return result.ok ? { ok: true, value: [result.value] } : result;
}

export function reportRefusal(refusal: Refusal, span: Span, diagnostics: Diagnostics): void {
  const code: DiagnosticCode = refusal.code === "too_long" ? "too_large" : refusal.code;
  diagnostics.error(code, span, refusal.message, { fix: refusal.fix ?? null });
}

export function kindName(node: TreeNode): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a map";
  if (node.value === null) return "nothing";
  return typeof node.value === "string" ? "text" : `a ${typeof node.value}`;
}

/** A number or a boolean where text is meant is nearly always a missing pair of quotes. */
function quoted(node: TreeNode): { readonly fix: string | null } {
  return { fix: node.kind === "scalar" && node.value !== null ? JSON.stringify(String(node.value)) : null };
}
