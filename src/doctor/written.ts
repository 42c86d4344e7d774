// The scope of a grant as it was written, before roots were hoisted: by the place the grant stands at.
import type { Grant, Span } from "../core/authority/grant.ts";
import { parseCompact } from "../core/notation/compact/compact-parser.ts";
import { type Places, placesOf } from "../core/notation/compact/compact-places.ts";
import { splitSpecs } from "../core/notation/compact/specs.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { entryOf, type Mapping, type TreeNode } from "../core/notation/tree.ts";

/** Null for a grant without a scope, undefined for one that was not written in `capabilities`. */
export type WrittenScope = Mapping | null | undefined;

export class WrittenScopes {
  readonly #tree: TreeNode | null;
  #byPlace: Map<string, Mapping | null> | null = null;

  constructor(tree: TreeNode | null) {
    this.#tree = tree;
  }

  of({ span, implied }: Grant): WrittenScope {
    if (span === null || implied !== null) return undefined;
    this.#byPlace ??= scopesOf(this.#tree);
    return this.#byPlace.get(placeOf(span));
  }
}

function scopesOf(tree: TreeNode | null): Map<string, Mapping | null> {
  const scopes = new Map<string, Mapping | null>();
  const list = tree?.kind === "map" ? entryOf(tree, "capabilities")?.value : undefined;
  const compact = (text: string, span: Span, places: Places): void => {
    const spec = parseCompact(text, span, new Diagnostics(), places);
    if (spec !== null) scopes.set(placeOf(span), spec.scope);
  };
  if (list?.kind === "scalar" && typeof list.value === "string") {
    const all = placesOf(list.value, list.span, list.written);
    for (const { text, span, places } of splitSpecs(list.value, list.span, new Diagnostics(), all) ?? [])
      compact(text, span, places);
  }
  if (list?.kind !== "list") return scopes;
  for (const item of list.items) {
    if (item.kind === "scalar" && typeof item.value === "string")
      compact(item.value, item.span, placesOf(item.value, item.span, item.written));
    const only = item.kind === "map" ? item.entries[0] : undefined;
    if (only !== undefined) scopes.set(placeOf(item.span), only.value.kind === "map" ? only.value : null);
  }
  return scopes;
}

function placeOf({ start, end }: Span): string {
  return `${start}-${end}`;
}
