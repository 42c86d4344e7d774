// Turns a plan into changes of a record's text: the list, the keys of expanded shorthands, nothing else.
import { ROOM } from "../../core/notation/record/room.ts";
import type { Range, Source } from "../../core/notation/source.ts";
import { type Entry, entryOf, type Mapping } from "../../core/notation/tree.ts";
import { flowReplacements, type ItemChanges, listReplacements, type WrittenList } from "./edit-list.ts";
import type { ItemChange, Plan, View } from "./edit-plan.ts";
import { scalarText } from "./edit-scalar.ts";
import {
  applyReplacements,
  breakOf,
  isBlank,
  lineAfter,
  lineStart,
  type Replacement,
  trimmedEnd,
} from "./edit-text.ts";

export type WriteResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly at: Range };

/** INVARIANT: outside the lines that the plan names, the text is unchanged. */
export function writePlan({ text }: Source, view: View, plan: Plan): WriteResult {
  const parts: (readonly Replacement[] | null)[] = [];
  const entry = entryOf(view.node, "capabilities");
  parts.push(entry === null ? keyAdded(text, view.node, plan.added) : listChanged(text, entry, view, plan));
  const access = entryOf(view.node, "access");
  if (plan.dropsAccess && access !== null) parts.push(keyRemoved(text, view.node, access));
  const room = entryOf(view.node, ROOM);
  if (plan.dropsRoom && room !== null) parts.push(keyRemoved(text, view.node, room));
  const extended = entryOf(view.node, "extends");
  if (plan.droppedPresets.size > 0 && extended !== null)
    parts.push(presetsRemoved(text, view.node, extended, plan.droppedPresets));
  const at = entry?.value.span ?? view.node.span;
  if (parts.includes(null)) return { ok: false, message: "this form cannot be edited line by line", at };
  const result = applyReplacements(
    text,
    parts.flatMap((part) => part ?? []),
  );
  return result === null ? { ok: false, message: "the changes to this would overlap", at } : { ok: true, text: result };
}

function listChanged(text: string, entry: Entry, view: View, plan: Plan): readonly Replacement[] | null {
  const { value } = entry;
  if (value.kind === "scalar" && value.value === null) return nullReplaced(text, entry, plan.added);
  if (value.kind === "scalar") return lineChanged(text, entry, view, plan);
  if (value.kind !== "list") return null;
  const changes: ItemChanges = new Map(
    [...plan.items].flatMap(([at, change]) => (change.kind === "specs" ? [[at, change.specs] as const] : [])),
  );
  const nested = [...plan.items.values()].flatMap((change) => entriesRemoved(text, change));
  if (nested.includes(null)) return null;
  const list = emptied(text, entry, value, changes, plan.added) ?? listReplacements(text, value, changes, plan.added);
  return list === null ? null : [...list, ...nested.flatMap((part) => part ?? [])];
}

function entriesRemoved(text: string, change: ItemChange): readonly (readonly Replacement[] | null)[] {
  if (change.kind !== "entries") return [];
  return [...change.kept].map(([list, stay]) => {
    const going = [...list.items.keys()].filter((at) => !stay.includes(at));
    return listReplacements(text, list, new Map(going.map((at) => [at, []])), []);
  });
}

/** A block without items would be null; the empty list is written explicitly after its key. */
function emptied(
  text: string,
  entry: Entry,
  list: WrittenList,
  changes: ItemChanges,
  added: readonly string[],
): readonly Replacement[] | null {
  const isEmpty = list.items.every((_, at) => changes.get(at)?.length === 0) && added.length === 0;
  if (!isEmpty || text[list.span.start] === "[") return null;
  const colon = colonOf(text, entry);
  const items = listReplacements(text, list, changes, []);
  return colon === null || items === null ? null : [{ start: colon, end: colon, text: " []" }, ...items];
}

/** The offset after a key's colon. */
function colonOf(text: string, { keySpan }: Entry): number | null {
  const found = /^[ \t]*:/.exec(text.slice(keySpan.end, keySpan.end + 80));
  return found === null ? null : keySpan.end + found[0].length;
}

/** One line of specs: its scalar is rewritten with the same quotes and unchanged other specs. */
function lineChanged(text: string, { value }: Entry, { items }: View, plan: Plan): readonly Replacement[] | null {
  if (value.kind !== "scalar" || typeof value.value !== "string" || items === null) return null;
  const like = text.slice(value.span.start, value.span.end);
  // A block scalar has indentation and line breaks of its own.
  if (/^[|>]/.test(like)) return null;
  const line = value.value;
  const replacements: Replacement[] = [];
  for (const [at, change] of plan.items) {
    const item = items[at]?.node.span;
    if (item === undefined || change.kind !== "specs") return null;
    const start = change.specs.length === 0 && at > 0 ? (items[at - 1]?.node.span.end ?? item.start) : item.start;
    replacements.push({ start, end: item.end, text: change.specs.join(" ") });
  }
  const kept = applyReplacements(line, replacements);
  if (kept === null) return null;
  const specs = [...(kept.trim() === "" ? [] : [kept.trim()]), ...plan.added];
  const put = specs.length === 0 ? "[]" : scalarText(specs.join(" "), true, like);
  return [{ ...value.span, text: put }];
}

/** `capabilities:` followed by nothing, `~` or `null`. */
function nullReplaced(text: string, entry: Entry, added: readonly string[]): readonly Replacement[] | null {
  const { span } = entry.value;
  const put = `[${added.map((spec) => scalarText(spec, true)).join(", ")}]`;
  if (span.end > span.start) return [{ ...span, text: put }];
  const colon = colonOf(text, entry);
  return colon === null ? null : [{ start: colon, end: colon, text: ` ${put}` }];
}

function keyAdded(text: string, node: Mapping, added: readonly string[]): readonly Replacement[] | null {
  const list = `[${added.map((spec) => scalarText(spec, true)).join(", ")}]`;
  if (text[node.span.start] === "{") {
    const last = node.entries.at(-1)?.value.span.end;
    return last === undefined ? null : [{ start: last, end: last, text: `, capabilities: ${list}` }];
  }
  const close = closingLine(text, node.span.end);
  const indent = text.slice(lineStart(text, node.span.start), node.span.start);
  if (close === null || !/^[ \t]*$/.test(indent)) return null;
  const end = breakOf(text);
  const lines = added.map((spec) => `${indent}  - ${scalarText(spec, false)}${end}`).join("");
  const put = added.length === 0 ? `${indent}capabilities: []${end}` : `${indent}capabilities:${end}${lines}`;
  return [{ start: close, end: close, text: put }];
}

/** The line that ends the frontmatter. */
function closingLine(text: string, from: number): number | null {
  const found = /^---\r?$/m.exec(text.slice(lineStart(text, from)));
  return found === null ? null : lineStart(text, from) + found.index;
}

/** A key of the record with its value and the rest of its last line. */
function keyRemoved(text: string, node: Mapping, entry: Entry): readonly Replacement[] | null {
  const range = { start: entry.keySpan.start, end: Math.max(entry.value.span.end, entry.keySpan.end + 1) };
  if (text[node.span.start] === "{") {
    const items = node.entries.map((one) => ({ span: { start: one.keySpan.start, end: one.value.span.end } }));
    const at = node.entries.indexOf(entry);
    return items.length === 1 ? null : flowReplacements(text, { span: node.span, items }, new Map([[at, []]]), []);
  }
  const start = lineStart(text, range.start);
  if (!isBlank(text, start, range.start)) return null;
  return [{ start, end: lineAfter(text, trimmedEnd(text, range)), text: "" }];
}

function presetsRemoved(
  text: string,
  node: Mapping,
  entry: Entry,
  names: ReadonlySet<string>,
): readonly Replacement[] | null {
  const { value } = entry;
  if (value.kind !== "list") return keyRemoved(text, node, entry);
  const going = value.items.flatMap((item, at) =>
    item.kind === "scalar" && typeof item.value === "string" && names.has(item.value) ? [at] : [],
  );
  if (going.length === value.items.length) return keyRemoved(text, node, entry);
  return listReplacements(text, value, new Map(going.map((at) => [at, []])), []);
}
