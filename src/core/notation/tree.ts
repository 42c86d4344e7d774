// What every reader of YAML, TOML or JSON hands to the notations: a tree whose nodes know where they were written.
import type { Span } from "../authority/grant.ts";
import type { Json } from "../base/json.ts";

export type TreeNode = Scalar | List | Mapping;

export interface Scalar {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly span: Span;
  /** A text as it stands under the span, quotes and escapes included; absent where that is the value itself. */
  readonly written?: string;
}

export interface List {
  readonly kind: "list";
  readonly items: readonly TreeNode[];
  readonly span: Span;
}

export interface Mapping {
  readonly kind: "map";
  /** In the order written. INVARIANT: no key twice; a reader refuses the whole text otherwise. */
  readonly entries: readonly Entry[];
  readonly span: Span;
}

export interface Entry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: TreeNode;
}

export function entryOf(map: Mapping, key: string): Entry | null {
  return map.entries.find((entry) => entry.key === key) ?? null;
}

/** The value that is written, without its places. */
export function plainValue(node: TreeNode): Json {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]));
}
