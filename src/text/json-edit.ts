// Edits a JSON text in place: everything that is not changed stays byte for byte, comments and formatting included.
import {
  applyEdits,
  type FormattingOptions,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  visit,
} from "jsonc-parser";
import type { Json } from "../core/base/json.ts";
import { done, type Result, refuse } from "../core/base/result.ts";

type Path = readonly string[];

/** Longer lines are edited without formatting. */
const lineCharactersMax = 10_000;

const BYTE_ORDER_MARK = "\u{feff}";

const PARSING = { allowTrailingComma: true, disallowComments: false };

/** The text with the element at the end of the list at this path, which is created where it is missing. */
export function withElement(text: string, at: Path, value: Json): Result<string> {
  const list = valueAt(text, at);
  if (!list.ok) return list;
  if (list.value !== undefined && !Array.isArray(list.value))
    return refuse("bad_value", `\`${at.join(".")}\` is not a list`);
  return list.value === undefined
    ? withMember(text, at, [value])
    : done(edited(text, [...at, list.value.length], value, true));
}

/** The text without the elements of the list that `isGone` names; a list that becomes empty is removed. */
export function withoutElements(text: string, at: Path, isGone: (value: Json) => boolean): Result<string> {
  const list = valueAt(text, at);
  if (!list.ok) return list;
  if (!Array.isArray(list.value)) return done(text);
  const elements = list.value as readonly Json[];
  let after = text;
  for (let index = elements.length - 1; index >= 0; index--)
    if (isGone(elements[index] as Json)) after = withoutElement(after, at, index);
  if (elements.length === 0 || !elements.every(isGone)) return done(after);
  return done(withoutEmpty(after, at));
}

/**
 * Not by the library, which takes one character too little where nothing is between the last element and the end of the list. A
 * comment beside the element stays.
 */
function withoutElement(text: string, at: Path, index: number): string {
  const list = findNodeAtLocation(parseTree(text, [], PARSING) as Node, [...at]);
  const [before, node, next] = [list?.children?.[index - 1], list?.children?.[index], list?.children?.[index + 1]];
  if (list === undefined || node === undefined) return text;
  const end = node.offset + node.length;
  const cut = (start: number, to: number): string => `${text.slice(0, start)}${text.slice(to)}`;
  if (before !== undefined) {
    const start = before.offset + before.length;
    const comma = commaIn(text, start, node.offset);
    return isBare(text.slice(start, node.offset))
      ? cut(start, end)
      : `${text.slice(0, comma)}${text.slice(comma + 1, node.offset)}${text.slice(end)}`;
  }
  if (next !== undefined && isBare(text.slice(end, next.offset))) return cut(node.offset, next.offset);
  const comma = commaIn(text, end, next?.offset ?? list.offset + list.length);
  return comma < 0
    ? cut(node.offset, end)
    : `${text.slice(0, node.offset)}${text.slice(end, comma)}${text.slice(comma + 1)}`;
}

function isBare(between: string): boolean {
  return /^\s*,?\s*$/.test(between);
}

/** The comma between two elements, not one of a comment; -1 where there is none. */
function commaIn(text: string, start: number, end: number): number {
  let found = -1;
  const onSeparator = (character: string, offset: number): void => {
    if (found < 0 && character === "," && offset >= start && offset < end) found = offset;
  };
  visit(text, { onSeparator }, PARSING);
  return found;
}

export function withMember(text: string, at: Path, value: Json): Result<string> {
  const root = valueAt(text, []);
  if (!root.ok) return root;
  for (let depth = 0; depth < at.length; depth++) {
    const above = valueAt(text, at.slice(0, depth));
    if (!above.ok) return above;
    if (
      above.value !== undefined &&
      (typeof above.value !== "object" || above.value === null || Array.isArray(above.value))
    )
      return refuse(
        "bad_value",
        depth === 0 ? "it is not a JSON object" : `\`${at.slice(0, depth).join(".")}\` is not an object`,
      );
  }
  return done(edited(text, [...at], value, false));
}

/** Without the member, if it still has this value. */
export function withoutMember(text: string, at: Path, value: Json): Result<string> {
  const found = valueAt(text, at);
  if (!found.ok) return found;
  return done(JSON.stringify(found.value) === JSON.stringify(value) ? edited(text, [...at], undefined, false) : text);
}

/**
 * Undefined if nothing is there. A text with errors is refused: an edit could move what they hide. So is one with a key that is there
 * twice: readers differ in which of the two counts, and the client's may not be ours.
 */
export function valueAt(text: string, at: Path): Result<Json | undefined> {
  if (text.startsWith(BYTE_ORDER_MARK))
    return refuse("bad_value", "it starts with a byte order mark; save it as UTF-8 without one");
  const errors: ParseError[] = [];
  parse(text, errors, PARSING);
  const [error] = errors;
  if (error !== undefined) return refuse("bad_value", `it is not valid JSON (at character ${error.offset + 1})`);
  const tree = parseTree(text, [], PARSING);
  const twice = tree === undefined ? null : doubledKey(tree);
  if (twice !== null) return refuse("bad_value", `the key ${JSON.stringify(twice.slice(0, 80))} is repeated`);
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, [...at]);
  return done(
    node === undefined ? undefined : (parse(text.slice(node.offset, node.offset + node.length), [], PARSING) as Json),
  );
}

/** Anywhere in the file; null for none. */
function doubledKey(top: Node): string | null {
  const open = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const children = node.children ?? [];
    for (const child of children) open.push(child);
    if (node.type !== "object") continue;
    const seen = new Set<string>();
    for (const property of children) {
      const key = String(property.children?.[0]?.value);
      if (seen.has(key)) return key;
      seen.add(key);
    }
  }
  return null;
}

function edited(text: string, at: readonly (string | number)[], value: Json | undefined, isInsertion: boolean): string {
  const options = { isArrayInsertion: isInsertion };
  const plain = modify(text, [...at], value, options);
  const [first, last] = [plain[0], plain.at(-1)];
  if (first === undefined || last === undefined) return text;
  const end = last.offset + last.length;
  // The formatter takes whole lines, and its time grows with the square of their length.
  if (lineEnd(text, end) - lineStart(text, first.offset) > lineCharactersMax) return applyEdits(text, plain);
  const formatted = applyEdits(text, modify(text, [...at], value, { ...options, formattingOptions: formatOf(text) }));
  return isKept(text, formatted, first.offset, end) ? formatted : applyEdits(text, plain);
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found;
}

/** Whether everything before and behind this part is there as it was. */
function isKept(text: string, after: string, from: number, to: number): boolean {
  return after.startsWith(text.slice(0, from).trimEnd()) && after.endsWith(text.slice(to).trimStart());
}

/** Removes the empty list, and the objects that hold nothing else. */
function withoutEmpty(text: string, at: Path): string {
  let after = text;
  for (let depth = at.length; depth > 0; depth--) {
    const found = valueAt(after, at.slice(0, depth));
    if (!found.ok || found.value === undefined || Object.keys(found.value ?? {}).length > 0) return after;
    after = edited(after, at.slice(0, depth), undefined, false);
  }
  return after;
}

/** As the file is indented. */
function formatOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { tabSize: indent.length, insertSpaces: !indent.startsWith("\t"), eol };
}
