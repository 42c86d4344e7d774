// Adds, removes and replaces items of a YAML list in place, in blocks of `- item` lines and in `[a, b]`.
import type { Range } from "../../core/notation/source.ts";
import { scalarText } from "./edit-scalar.ts";
import { breakOf, isBlank, lineAfter, lineStart, type Replacement, trimmedEnd } from "./edit-text.ts";

/** A list in a text; a block list starts at its first dash. */
export interface WrittenList {
  readonly span: Range;
  readonly items: readonly { readonly span: Range }[];
}

/** The changed items: the specs that replace each, none to remove it. */
export type ItemChanges = ReadonlyMap<number, readonly string[]>;

/** Null if the list's layout cannot be edited line by line. At least one item remains or is added. */
export function listReplacements(
  text: string,
  list: WrittenList,
  changes: ItemChanges,
  added: readonly string[],
): readonly Replacement[] | null {
  return text[list.span.start] === "["
    ? flowReplacements(text, list, changes, added)
    : blockReplacements(text, list, changes, added);
}

function blockReplacements(
  text: string,
  { span, items }: WrittenList,
  changes: ItemChanges,
  added: readonly string[],
): readonly Replacement[] | null {
  const indent = text.slice(lineStart(text, span.start), span.start);
  if (!/^[ \t]*$/.test(indent)) return null;
  const line = (spec: string): string => `${indent}- ${scalarText(spec, false)}${breakOf(text)}`;
  const replacements: Replacement[] = [];
  for (const [at, specs] of changes) {
    const item = items[at]?.span;
    const dash = item === undefined ? null : dashOf(text, item.start, indent.length, span.start);
    if (item === undefined || dash === null) return null;
    const end = Math.max(trimmedEnd(text, item), dash + 1);
    const after = lineAfter(text, end);
    const [first, ...more] = specs;
    if (first === undefined) replacements.push({ start: lineStart(text, dash), end: after, text: "" });
    else {
      const like = text.slice(item.start, end);
      replacements.push({ start: item.start, end, text: scalarText(first, false, like) });
      replacements.push({ start: after, end: after, text: more.map(line).join("") });
    }
  }
  const last = items.at(-1)?.span;
  if (last === undefined) return null;
  const end = lineAfter(text, Math.max(trimmedEnd(text, last), span.start));
  return [...replacements, { start: end, end, text: added.map(line).join("") }];
}

/** All dashes of a block are in one column; a comment or a line break may be between a dash and its item. */
function dashOf(text: string, item: number, column: number, first: number): number | null {
  for (let start = lineStart(text, item); start >= lineStart(text, first); start = lineStart(text, start - 1)) {
    const dash = start + column;
    if (isBlank(text, start, dash) && /^-(?=\s|$)/.test(text.slice(dash, dash + 2))) return dash;
    if (start === 0) return null;
  }
  return null;
}

/** Also for the lists of a compact spec, which have neither comments nor line breaks. */
export function flowReplacements(
  text: string,
  { span, items }: WrittenList,
  changes: ItemChanges,
  added: readonly string[],
): readonly Replacement[] | null {
  const removed = items.flatMap((_, at) => (changes.get(at)?.length === 0 ? [at] : []));
  const joined = (specs: readonly string[]): string => specs.map((spec) => scalarText(spec, true)).join(", ");
  if (removed.length === items.length) return [{ ...span, text: `[${joined(added)}]` }];
  // Added items replace removed ones, so that no comma has to be guessed.
  const place = added.length > 0 ? removed.pop() : undefined;
  const replacements: Replacement[] = removed.length === 0 ? [] : removals(text, items, removed);
  for (const [at, item] of items.entries()) {
    const specs = at === place ? added : (changes.get(at) ?? []);
    if (specs.length === 0) continue;
    const like = text.slice(item.span.start, item.span.end);
    const [first = "", ...more] = specs;
    const put = [scalarText(first, true, like), ...more.map((spec) => scalarText(spec, true))].join(", ");
    replacements.push({ ...item.span, text: put });
  }
  const last = items.at(-1)?.span.end;
  if (last !== undefined && added.length > 0 && place === undefined)
    replacements.push({ start: last, end: last, text: `, ${joined(added)}` });
  return replacements;
}

/** Each item is removed with the comma after it; the last ones with the comma before them, if they are on one line. */
function removals(text: string, items: WrittenList["items"], removed: readonly number[]): Replacement[] {
  const tail = lastRun(items.length, removed);
  const before = items[tail - 1]?.span.end;
  const end = items.at(-1)?.span.end ?? 0;
  const isOneLine = before !== undefined && tail < items.length && !/[\r\n]/.test(text.slice(before, end));
  const single = removed.filter((at) => !isOneLine || at < tail);
  const replacements = single.map((at): Replacement => {
    const item = (items[at] as WrittenList["items"][number]).span;
    const comma = commaBehind(text, item.end);
    const stop = comma ?? item.end;
    const start = lineStart(text, item.start);
    const isAlone = isBlank(text, start, item.start) && /^[ \t]*(#[^\n]*)?\r?\n/.test(text.slice(stop));
    if (isAlone) return { start, end: lineAfter(text, stop), text: "" };
    const spaces = /^[ \t]*/.exec(text.slice(stop))?.[0].length ?? 0;
    return { start: item.start, end: comma === null ? stop : stop + spaces, text: "" };
  });
  return isOneLine && before !== undefined ? [...replacements, { start: before, end, text: "" }] : replacements;
}

/** Start of the run of removed items at the end. */
function lastRun(length: number, removed: readonly number[]): number {
  let from = length;
  while (removed.includes(from - 1)) from--;
  return from;
}

/** The offset after the next comma, past blanks and comments; null before the closing bracket. */
function commaBehind(text: string, from: number): number | null {
  const blanks = /(?:\s|(?<=\s)#[^\n]*)*/y;
  blanks.lastIndex = from;
  const found = from + (blanks.exec(text)?.[0].length ?? 0);
  return text[found] === "," ? found + 1 : null;
}
