// The items of `capabilities` as written, in any form, each with its grant.
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { parseCompact } from "../../core/notation/compact/compact-parser.ts";
import { splitSpecs } from "../../core/notation/compact/specs.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { type CapabilitiesContext, readCapabilities } from "../../core/notation/record/capabilities.ts";
import { readGrant } from "../../core/notation/scope/scope-reader.ts";
import type { Entry, List, Mapping, TreeNode } from "../../core/notation/tree.ts";
import { flowReplacements } from "./edit-list.ts";
import type { SpecContext } from "./edit-spec.ts";
import { applyReplacements } from "./edit-text.ts";

export interface Item {
  readonly grant: Grant | null;
  readonly node: TreeNode;
  /** The map in the verb's braces or below its key; null for bare verbs, tokens and items that were not understood. */
  readonly scope: Mapping | null;
  /** The spec, if the item is text. */
  readonly text: string | null;
  /** The grant of this item if only these entries of its scope's lists remained. */
  reread(kept: RemainingEntries): Grant | null;
}

export type RemainingEntries = ReadonlyMap<List, readonly number[]>;

/** Null if there is neither a list nor a line of specs. */
export function itemsOf(entry: Entry | null, context: SpecContext): readonly Item[] | null {
  const value = entry?.value;
  if (value === undefined || value.kind === "map") return null;
  if (value.kind === "list") return value.items.map((node) => itemOf(node, context));
  if (typeof value.value !== "string") return null;
  // Spans are relative to the decoded line, because that is what is edited.
  const whole = { source: value.span.source, start: 0, end: value.value.length };
  const specs = splitSpecs(value.value, whole, new Diagnostics());
  return specs?.map(({ text, span }) => itemOf({ kind: "scalar", value: text, span }, context)) ?? null;
}

export function itemOf(node: TreeNode, { reading, root }: SpecContext): Item {
  const context = (): CapabilitiesContext => ({ reading, root, diagnostics: new Diagnostics() });
  const [grant = null] = readCapabilities({ kind: "list", items: [node], span: node.span }, context());
  if (node.kind === "scalar" && typeof node.value === "string") {
    const text = node.value;
    const spec = parseCompact(text, { source: "", start: 0, end: text.length }, new Diagnostics());
    const reread = (kept: RemainingEntries): Grant | null => {
      const shorter = keepInText(text, kept);
      return shorter === null ? null : specGrant(shorter, { reading, root });
    };
    return { grant, node, scope: grant === null ? null : (spec?.scope ?? null), text, reread };
  }
  const entry = node.kind === "map" ? node.entries[0] : undefined;
  const scope = entry?.value.kind === "map" && grant !== null ? entry.value : null;
  const reread = (kept: RemainingEntries): Grant | null =>
    grant === null || scope === null
      ? null
      : readGrant(grant.verb, keepInScope(scope, kept), { ...context(), span: scope.span, implied: null });
  return { grant, node, scope, text: null, reread };
}

/** A compact spec with only these entries in its lists. */
export function keepInText(text: string, kept: RemainingEntries): string | null {
  const replacements = [...kept].flatMap(([list, stay]) => {
    const going = [...list.items.keys()].filter((at) => !stay.includes(at));
    return flowReplacements(text, list, new Map(going.map((at) => [at, []])), []) ?? [];
  });
  return applyReplacements(text, replacements);
}

function keepInScope(scope: Mapping, kept: RemainingEntries): Mapping {
  const entries = scope.entries.map((entry): Entry => {
    const { value } = entry;
    const stay = value.kind === "list" ? kept.get(value) : undefined;
    if (value.kind !== "list" || stay === undefined) return entry;
    return { ...entry, value: { ...value, items: value.items.filter((_, at) => stay.includes(at)) } };
  });
  return { ...scope, entries };
}

/** The grant of a compact spec by itself. */
export function specGrant(spec: string, { reading, root }: SpecContext): Grant | null {
  const span = { source: "", start: 0, end: spec.length };
  return readCompact(spec, { reading, root, diagnostics: new Diagnostics(), span });
}
