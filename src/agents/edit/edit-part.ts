// Removes a part of one written item: deletes entries in place, or writes the remainder anew.

import { pathText } from "../../core/authority/axes/path.ts";
import type { Axis } from "../../core/authority/catalog.ts";
import { type Grant, isCounted } from "../../core/authority/grant.ts";
import { compactWord } from "../../core/notation/compact/compact-word.ts";
import { compactText } from "../../core/notation/printer.ts";
import { type Entry, entryOf, type List, type Mapping } from "../../core/notation/tree.ts";
import { type Item, keepInText, type RemainingEntries } from "./edit-items.ts";
import { type ProtectedPaths, relation, subtract } from "./edit-subtract.ts";

export type PartResult =
  | { readonly kind: "same" }
  | { readonly kind: "gone" }
  /** Only these entries of the lists in the item's map remain. */
  | { readonly kind: "entries"; readonly kept: RemainingEntries }
  | { readonly kind: "specs"; readonly specs: readonly string[] }
  | { readonly kind: "no_spelling"; readonly axis: Axis | null };

/** `root`: the agent's root, which a spec need not repeat. */
export function withoutPart(
  item: Item,
  part: Grant,
  root: readonly string[] | null,
  protectedPaths: ProtectedPaths,
): PartResult {
  const { grant } = item;
  if (grant === null) return { kind: "same" };
  const lies = relation(grant, part, protectedPaths);
  if (lies === "apart") return { kind: "same" };
  if (lies === "inside") return { kind: "gone" };
  const kept = item.scope === null ? null : keptEntries(item, item.scope, part, protectedPaths);
  if (kept !== null) return shortened(item, kept);
  const rest = subtract(grant, part, protectedPaths);
  if (!rest.ok) return { kind: "no_spelling", axis: rest.axis };
  if (rest.grants.length === 0) return { kind: "gone" };
  // Two grants in place of one would have two budgets.
  if (rest.grants.length > 1 && isCounted(grant.conditions)) return { kind: "no_spelling", axis: null };
  const within = item.scope === null ? null : entryOf(item.scope, "in");
  return { kind: "specs", specs: rest.grants.map((one) => respelled(one, within, root)) };
}

/** The axis whose entries are each entirely inside or entirely outside the part, and which of them remain. */
function keptEntries(item: Item, scope: Mapping, part: Grant, protectedPaths: ProtectedPaths): RemainingEntries | null {
  for (const axis of (item.grant as Grant).verb.axes) {
    const keys: readonly string[] = axis.keys.filter((key) => key !== "in" && key !== "private");
    const values = scope.entries.filter(({ key }) => keys.includes(key)).map(({ value }) => value);
    const lists = values.filter((value) => value.kind === "list");
    if (lists.length === 0 || lists.length !== values.length) continue;
    const kept = new Map<List, number[]>(lists.map((list) => [list, []]));
    let isExact = true;
    let going = 0;
    for (const list of lists) {
      for (const at of list.items.keys()) {
        const one = item.reread(new Map(lists.map((other) => [other, other === list ? [at] : []])));
        const lies = one === null ? "crossing" : relation(one, part, protectedPaths);
        isExact &&= lies !== "crossing";
        if (lies === "apart") kept.get(list)?.push(at);
        else going++;
      }
    }
    if (isExact && going > 0) return new Map([...kept].filter(([list, stay]) => stay.length < list.items.length));
  }
  return null;
}

/** Lists of a spec are edited in its text; lists of a map later, in the file. */
function shortened({ text }: Item, kept: RemainingEntries): PartResult {
  if (text === null) return { kind: "entries", kept };
  const shorter = keepInText(text, kept);
  return shorter === null ? { kind: "no_spelling", axis: null } : { kind: "specs", specs: [shorter] };
}

/** A root that was written as `~/x`, or omitted, is not replaced by its absolute path on this machine. */
function respelled(grant: Grant, within: Entry | null, root: readonly string[] | null): string {
  const text = compactText(grant);
  if (grant.root === null) return text;
  const absolute = `in=${compactWord(pathText(grant.root))}`;
  const start = `${grant.verb.verb}{${absolute}`;
  if (!text.startsWith(start)) return text;
  const rest = text.slice(start.length);
  if (within?.value.kind === "scalar" && typeof within.value.value === "string")
    return `${grant.verb.verb}{in=${compactWord(within.value.value)}${rest}`;
  const isHoisted = root !== null && root.length > 0 && pathText(root) === pathText(grant.root);
  if (!isHoisted) return text;
  return rest === "}" ? grant.verb.verb : `${grant.verb.verb}{${rest.slice(1)}`;
}
