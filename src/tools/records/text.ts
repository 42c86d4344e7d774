// Texts of records: a new one, and one with only the requested changes. Verified by parsing it again.

import type { ParsedText } from "../../agents/records/record-collection.ts";
import { recordText } from "../../agents/records/record-text.ts";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import type { Json } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../../core/notation/tree.ts";
import { visible } from "../../core/notation/visible.ts";

export type ReadHead = (source: Source) => ParsedText;

/** The members that are written. An omitted one stays unchanged. */
export interface RecordParts {
  readonly class?: string;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly body?: string;
}

/** The whole text, with its frontmatter. */
export const recordCharactersMax = 1_000_000;

export function newText(parts: RecordParts & { readonly class: string }, read: ReadHead): Result<string> {
  const wrong = wrongPart(parts);
  if (wrong !== null) return wrong;
  const head = recordText(parts.class, parts.title ?? null);
  if (!head.ok) return head;
  const source: Source = { name: "record", text: head.value };
  return changedText(
    source,
    { ...(parts.tags === undefined ? {} : { tags: parts.tags }), body: parts.body ?? "" },
    read,
  );
}

export function changedText(source: Source, parts: RecordParts, read: ReadHead): Result<string> {
  const wrong = wrongPart(parts);
  if (wrong !== null) return wrong;
  const before = headOf(source, read);
  if (before === null) return refuse("bad_value", "the record's frontmatter cannot be parsed");
  const keys = headKeys(parts);
  const edits = keys.map(([key, value]) => headEdit(source.text, before, key, value));
  let head = source.text.slice(0, before.bodyStart);
  for (const { start, end, text } of edits.sort((left, right) => right.start - left.start || right.end - left.end))
    head = head.slice(0, start) + text + head.slice(end);
  // A blank line precedes the body, so that its first line is not part of the frontmatter.
  if (parts.body !== undefined && !/(?:\r\n|\n)(?:\r\n|\n)$/.test(head)) head += head.endsWith("\n") ? "\n" : "\n\n";
  const text = head + (parts.body ?? source.text.slice(before.bodyStart));
  if (text.length > recordCharactersMax)
    return refuse("too_long", `a record has at most ${recordCharactersMax} characters`);
  const after = headOf({ name: source.name, text }, read);
  const isProved =
    after !== null &&
    after.bodyStart === head.length &&
    keys.every(([key, value]) => plain(entryOf(after.map, key)?.value) === JSON.stringify(value)) &&
    others(before.map, keys) === others(after.map, keys);
  return isProved
    ? done(text)
    : refuse("bad_value", "the record's frontmatter has a form that this tool cannot edit; a person must change it");
}

/** Offset of the body: after the frontmatter and the blank line that usually follows it. */
export function bodyStart(text: string, behindHead: number): number {
  return behindHead + (/^(?:\r\n|\n)/.exec(text.slice(behindHead, behindHead + 2))?.[0].length ?? 0);
}

interface Head {
  readonly map: Mapping;
  readonly closing: number;
  readonly bodyStart: number;
}

function headOf(source: Source, read: ReadHead): Head | null {
  const { read: found, body } = read(source);
  const { tree } = found;
  const isEmpty = tree?.kind === "scalar" && tree.value === null;
  if (tree === null || (tree.kind !== "map" && !isEmpty)) return null;
  const map: Mapping = tree.kind === "map" ? tree : { kind: "map", entries: [], span: tree.span };
  const closing = source.text.slice(0, body.start).replace(/(?:\r\n|\n|\r)$/, "").length - 3;
  return { map, closing, bodyStart: bodyStart(source.text, body.start) };
}

type HeadKey = readonly [string, Json];

function headKeys({ class: recordClass, title, tags }: RecordParts): readonly HeadKey[] {
  return [
    ...(recordClass === undefined ? [] : [["class", recordClass] as const]),
    ...(title === undefined ? [] : [["title", title] as const]),
    ...(tags === undefined ? [] : [["tags", [...tags]] as const]),
  ];
}

/** JSON is valid YAML. */
function headEdit(
  text: string,
  { map, closing }: Head,
  key: string,
  value: Json,
): { readonly start: number; readonly end: number; readonly text: string } {
  const entry: Entry | null = entryOf(map, key);
  const line = `${key}: ${visible(JSON.stringify(value))}`;
  if (entry !== null) return { start: entry.keySpan.start, end: entry.value.span.end, text: line };
  const end = text.slice(0, closing).endsWith("\r\n") ? "\r\n" : "\n";
  return { start: closing, end: closing, text: `${line}${end}` };
}

function others(map: Mapping, keys: readonly HeadKey[]): string {
  return JSON.stringify(
    map.entries.filter(({ key }) => !keys.some(([one]) => one === key)).map(({ key, value }) => [key, plain(value)]),
  );
}

function plain(node: TreeNode | undefined): string {
  return JSON.stringify(node === undefined ? null : plainValue(node));
}

function plainValue(node: TreeNode): Json {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  // As pairs: a key such as `__proto__` is an ordinary one here.
  return node.entries.map(({ key, value }) => [key, plainValue(value)]);
}

/** Joiners are part of some scripts and emoji; other invisible characters are not allowed in a line. */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u;

function wrongPart({ class: recordClass, title, tags, body }: RecordParts): ReturnType<typeof refuse> | null {
  const lines = [recordClass, title, ...(tags ?? [])].filter((one) => one !== undefined);
  if (lines.some((one) => one.trim() === "" || !isPlainText(one) || HIDDEN.test(one)))
    return refuse("bad_value", "class, title and tags must be one line of visible characters");
  if (body !== undefined && (/\p{Surrogate}/u.test(body) || body.includes("\0")))
    return refuse("bad_value", "the body must be text without NUL and unpaired surrogates");
  return null;
}
