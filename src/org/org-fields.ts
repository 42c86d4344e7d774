// Fields of an org file: typed access with a diagnostic for what has the wrong type, and for keys there are not.
import type { Span } from "../core/authority/grant.ts";
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import { entryOf, type Mapping } from "../core/notation/tree.ts";

/** A text with the place it was written at. */
export interface PlacedText {
  readonly text: string;
  readonly span: Span;
}

export function mapIn(map: Mapping, key: string, diagnostics: Diagnostics): Mapping | null {
  const entry = entryOf(map, key);
  if (entry === null || entry.value.kind === "map") return entry === null ? null : (entry.value as Mapping);
  diagnostics.error("wrong_type", entry.value.span, `\`${key}\` is a map, not ${kindName(entry.value)}`);
  return null;
}

export function textIn(map: Mapping, key: string, diagnostics: Diagnostics): PlacedText | null {
  const entry = entryOf(map, key);
  if (entry === null) return null;
  const { value } = entry;
  if (value.kind === "scalar" && typeof value.value === "string") return { text: value.value, span: value.span };
  diagnostics.error("wrong_type", value.span, `\`${key}\` must be text, not ${kindName(value)}`);
  return null;
}

export function checkKeys(map: Mapping, keys: readonly string[], what: string, diagnostics: Diagnostics): void {
  for (const { key, keySpan } of map.entries) {
    if (keys.includes(key)) continue;
    const suggestion = nearestName(key, keys);
    diagnostics.error("unknown_key", keySpan, `${quoteText(key)} is not part of ${what}`, { suggestion });
  }
}
